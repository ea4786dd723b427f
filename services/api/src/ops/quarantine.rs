//! What an operator sees of exports, of whatever tenant: which ones wait for a decision, and what one needs to know
//! before deciding. Deliberately absent: any export's file.

use axum::Json;
use axum::extract::State;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;
use waybill_domain::ids::ExportId;
use waybill_domain::job::JobState;
use waybill_store::job::{self, JobView};
use waybill_store::quarantine::{self, Quarantined};
use waybill_store::timeline::{AttemptStep, attempts};

use crate::app::App;
use crate::exports::{not_found, parse_id, representation};
use crate::page;
use crate::principal::Principal;
use crate::problem::{Answer, Problem};
use crate::request::{Parameters, PathId};
use crate::timeline;

/// Which exports are wanted. Only one state is served: any other list of all tenants' exports has no bound.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// Optional only so that whoever is no operator is told that, and not what is missing.
    #[param(required, nullable = false, pattern = "^quarantined$")]
    state: Option<String>,
    #[param(nullable = false, pattern = "^exp_[0-9a-f]{32}$")]
    after: Option<String>,
    #[param(nullable = false, minimum = 1, maximum = 1000)]
    limit: Option<i64>,
}

/// `GET /v1/ops/exports?state=quarantined`.
pub(crate) async fn list_exports(
    State(app): State<App>,
    principal: Principal,
    Parameters(wanted): Parameters<Wanted>,
) -> Answer<Json<Value>> {
    principal.operator()?;
    let state = JobState::Quarantined.as_str();
    if wanted.state.as_deref() != Some(state) {
        return Err(Problem::field("state", format!("must be {state}, the one that waits for an operator")));
    }
    let page = page::Page::new(wanted.after, wanted.limit);
    let limit = page.limit()?;
    let after = page::id("after", page.after.as_deref(), ExportId::parse)?;
    let exports = quarantine::list(&**app.export().await?, after.as_ref(), limit).await?;
    let next = page::Page::next(&exports, limit, |export| export.export_id.to_string());
    let exports: Vec<Value> = exports.iter().map(shown).collect();
    Ok(Json(json!({ "exports": exports, "next": next })))
}

/// `GET /v1/ops/exports/{export_id}`.
pub(crate) async fn show_export(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId,
) -> Answer<Response> {
    principal.operator()?;
    let view = find(&app, &id).await?;
    let path = format!("/v1/ops/exports/{}", view.job.export_id);
    let mut body = representation(&view);
    body["tenant_id"] = view.job.tenant_id.as_str().into();
    body["service_account_id"] = view.job.service_account_id.as_str().into();
    body["lost_leases"] = view.job.lifecycle.lost_leases.into();
    body["transient_failures"] = view.job.lifecycle.transient_failures.into();
    body["work_failures"] = view.job.lifecycle.work_failures.into();
    let attempts = attempts(&**app.export().await?, &view.job.export_id).await?;
    body["attempts"] = attempts.iter().map(tried).collect();
    body["links"] = json!({ "self": path, "content": null, "timeline": format!("{path}/timeline") });
    Ok(([(CACHE_CONTROL, "no-store")], Json(body)).into_response())
}

/// `GET /v1/ops/exports/{export_id}/timeline`.
pub(crate) async fn export_timeline(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId,
) -> Answer<Response> {
    principal.operator()?;
    let view = find(&app, &id).await?;
    timeline::answer(&app, view.job).await
}

/// The export of this id, whoever's it is.
async fn find(app: &App, id: &str) -> Answer<JobView> {
    let export_id = parse_id(id)?;
    let db = app.export().await?;
    let tenant_id = quarantine::owner(&**db, &export_id).await?.ok_or_else(|| not_found(id))?;
    job::find(&**db, &tenant_id, &export_id).await?.ok_or_else(|| not_found(id))
}

/// One try, apart from all others.
fn tried(attempt: &AttemptStep) -> Value {
    json!({
        "number": attempt.number,
        "fence": attempt.fence,
        "worker": attempt.worker,
        "started_at": attempt.claimed_at,
        "ended_at": attempt.ended_at,
        "outcome": attempt.state.as_str(),
        "rows": attempt.rows_done,
        "bytes": attempt.bytes_done,
        "error_code": attempt.error_code,
        "error_detail": attempt.error_detail,
    })
}

fn shown(export: &Quarantined) -> Value {
    json!({
        "export_id": export.export_id,
        "tenant_id": export.tenant_id,
        "state": JobState::Quarantined.as_str(),
        "dataset": export.dataset,
        "name": export.name,
        "lost_leases": export.lost_leases,
        "accepted_at": export.accepted_at,
        "last_attempt": export.last_attempt.as_ref().map(|attempt| json!({
            "fence": attempt.fence,
            "worker": attempt.worker,
            "ended_at": attempt.ended_at,
        })),
    })
}
