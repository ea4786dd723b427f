//! `GET /v1/exports/{id}/timeline`: the way of one export, from what is stored and from nothing else.

mod assemble;
mod evidence;
mod step;

use axum::Json;
use axum::extract::State;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use waybill_store::api_key::Scope;
use waybill_store::job::Job;

use crate::app::App;
use crate::exports::find;
use crate::principal::Principal;
use crate::problem::Answer;
use crate::request::PathId;

/// Answers the steps of an export of the caller's tenant, reached or not.
pub(crate) async fn timeline(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId,
) -> Answer<Response> {
    let tenant_id = principal.tenant(Scope::ExportsRead)?;
    let view = find(&app, tenant_id, &id).await?;
    answer(&app, view.job).await
}

/// The steps of an export that the caller may see.
pub(crate) async fn answer(app: &App, job: Job) -> Answer<Response> {
    let evidence = evidence::read(app, job).await?;
    let body = json!({
        "export_id": evidence.job.export_id,
        "state": evidence.job.lifecycle.state.as_str(),
        "steps": assemble::steps(&evidence),
        "unavailable": evidence.unavailable,
    });
    Ok(([(CACHE_CONTROL, "no-store")], Json(body)).into_response())
}
