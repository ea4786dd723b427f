//! `GET /v1/exports/{id}`: an export as it is, or as soon as it is other than it was.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, ETAG, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use tokio::time::{Instant, timeout_at};
use waybill_domain::ids::TenantId;
use waybill_store::api_key::Scope;
use waybill_store::job::{self, JobView};
use waybill_store::watched::Mark;

use super::{not_found, parse_id, representation};
use crate::app::App;
use crate::conditional::{has, has_any, quoted, tag};
use crate::preference::{PREFERENCE_APPLIED, applied, wait};
use crate::principal::Principal;
use crate::problem::{Answer, RETRY_AFTER_SECONDS};
use crate::request::PathId;
use crate::watching::Watcher;

/// Answers an export of the caller's tenant; after a wait, where the caller prefers one and there is room for it.
pub(crate) async fn show(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId,
    headers: HeaderMap,
) -> Answer<Response> {
    let tenant_id = principal.tenant(Scope::ExportsRead)?;
    let export_id = parse_id(&id)?;
    let waiting = wait(&headers).and_then(|wait| Some((wait, app.watching().watch(tenant_id, &export_id)?)));
    let view = find(&app, tenant_id, &id).await?;
    let Some((wait, watcher)) = waiting else { return Ok(answer(&view, &headers)) };
    let view = later(&app, &principal, &headers, view, (wait, watcher)).await?;
    let mut response = answer(&view, &headers);
    if let Ok(applied) = HeaderValue::from_str(&applied(wait)) {
        response.headers_mut().insert(PREFERENCE_APPLIED, applied);
    }
    Ok(response)
}

/// The export as soon as it is not what the caller has; or, where it did not say what it has, as soon as state or version are not
/// what they are now; or when the time is over. An export with an outcome is waited for by nobody.
async fn later(
    app: &App,
    principal: &Principal,
    headers: &HeaderMap,
    first: JobView,
    (wait, mut watcher): (Duration, Watcher),
) -> Answer<JobView> {
    let tenant_id = principal.tenant(Scope::ExportsRead)?;
    let until = Instant::now() + wait;
    let (first_mark, is_conditional) = (Mark::of(&first), has_any(headers));
    let is_over = |view: &JobView| {
        let is_news = if is_conditional {
            !has(headers, &quoted(&tag(&representation(view))))
        } else {
            !is_of(&Mark::of(view), &first_mark)
        };
        is_news || view.job.lifecycle.state.is_terminal()
    };
    let mut view = first;
    while !is_over(&view) {
        let known = Mark::of(&view);
        let is_known = |mark: &Mark| if is_conditional { *mark == known } else { is_of(mark, &known) };
        let changed = timeout_at(until, watcher.changed(is_known)).await;
        // Its key may have been revoked while it waited.
        principal.again(app).await?;
        view = find(app, tenant_id, view.job.export_id.as_str()).await?;
        if !matches!(changed, Ok(true)) {
            break;
        }
    }
    Ok(view)
}

/// Whether an export has not moved on from one mark to the other, however much it did meanwhile.
fn is_of(one: &Mark, other: &Mark) -> bool {
    (one.version, one.state) == (other.version, other.state)
}

fn answer(view: &JobView, headers: &HeaderMap) -> Response {
    let body = representation(view);
    let etag = quoted(&tag(&body));
    let fresh = [(CACHE_CONTROL, "private, no-cache".to_owned()), (ETAG, etag.clone())];
    let mut response = if has(headers, &etag) {
        (StatusCode::NOT_MODIFIED, fresh).into_response()
    } else {
        (fresh, Json(body)).into_response()
    };
    if !view.job.lifecycle.state.is_terminal() {
        response.headers_mut().insert(RETRY_AFTER, RETRY_AFTER_SECONDS.into());
    }
    response
}

/// The export of this id and tenant, or the problem that says there is none.
pub(crate) async fn find(app: &App, tenant_id: &TenantId, id: &str) -> Answer<JobView> {
    let export_id = parse_id(id)?;
    let db = app.export().await?;
    job::find(&**db, tenant_id, &export_id).await?.ok_or_else(|| not_found(id))
}
