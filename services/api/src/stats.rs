//! `GET /v1/stats`: how many exports of the caller's tenant became what, by data set.

use axum::Json;
use axum::extract::State;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use waybill_store::api_key::Scope;
use waybill_store::counter::{self, Counter};

use crate::app::App;
use crate::principal::Principal;
use crate::problem::Answer;

/// Answers the counters of the caller's tenant as far as facts have been counted.
pub(crate) async fn stats(State(app): State<App>, principal: Principal) -> Answer<Response> {
    let tenant_id = principal.tenant(Scope::ExportsRead)?;
    let counters = counter::of_tenant(&**app.stats().await?, tenant_id).await?.counters;
    let datasets: Vec<Value> = counters.iter().map(shown).collect();
    Ok(([(CACHE_CONTROL, "no-store")], Json(json!({ "datasets": datasets }))).into_response())
}

fn shown(counter: &Counter) -> Value {
    let counts = &counter.counts;
    json!({
        "dataset": counter.dataset,
        "requested": counts.requested,
        "succeeded": counts.succeeded,
        "failed": counts.failed,
        "cancelled": counts.cancelled,
        "expired": counts.expired,
        "deleted": counts.deleted,
        "rows": counts.rows,
        "bytes": counts.bytes,
        "updated_at": counter.updated_at,
    })
}
