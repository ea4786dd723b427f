//! `GET /v1/usage`: what the caller's tenant may have, and has.

use axum::Json;
use axum::extract::State;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use waybill_store::api_key::Scope;
use waybill_store::quota::{self, Used};

use crate::app::App;
use crate::ops::tenant_not_found;
use crate::principal::Principal;
use crate::problem::Answer;

/// Answers every limit and its use, of one snapshot.
pub(crate) async fn usage(State(app): State<App>, principal: Principal) -> Answer<Response> {
    let tenant_id = principal.tenant(Scope::ExportsRead)?;
    let used = quota::used(&**app.export().await?, tenant_id).await?;
    let used = used.ok_or_else(|| tenant_not_found(tenant_id.as_str()))?;
    Ok(([(CACHE_CONTROL, "no-store")], Json(shown(&used))).into_response())
}

fn shown(used: &Used) -> Value {
    let Used { limits, waiting, running, rows_a_day, bytes_kept, day_ends_at, now } = used;
    json!({
        "asked_at": now,
        "waiting": { "limit": limits.waiting, "used": waiting },
        "running": { "limit": limits.running, "used": running },
        "rows_a_day": { "limit": limits.rows_a_day, "used": rows_a_day, "day_ends_at": day_ends_at },
        "bytes_kept": { "limit": limits.bytes_kept, "used": bytes_kept },
    })
}
