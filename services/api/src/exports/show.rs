//! `GET /v1/exports/{id}`.

use axum::Json;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, RETRY_AFTER};
use axum::response::{IntoResponse, Response};
use waybill_domain::ids::TenantId;
use waybill_store::api_key::Scope;
use waybill_store::job::{self, JobView};

use super::{not_found, parse_id, representation};
use crate::app::App;
use crate::principal::Principal;
use crate::problem::{Answer, RETRY_AFTER_SECONDS};
use crate::request::PathId;

/// Answers an export of the caller's tenant as it is now.
pub(crate) async fn show(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId,
) -> Answer<Response> {
    let tenant_id = principal.tenant(Scope::ExportsRead)?;
    let view = find(&app, tenant_id, &id).await?;
    let mut response = ([(CACHE_CONTROL, "no-store")], Json(representation(&view))).into_response();
    if !view.job.lifecycle.state.is_terminal() {
        response.headers_mut().insert(RETRY_AFTER, RETRY_AFTER_SECONDS.into());
    }
    Ok(response)
}

/// The export of this id and tenant, or the problem that says there is none.
pub(crate) async fn find(app: &App, tenant_id: &TenantId, id: &str) -> Answer<JobView> {
    let export_id = parse_id(id)?;
    let db = app.export().await?;
    job::find(&**db, tenant_id, &export_id).await?.ok_or_else(|| not_found(id))
}
