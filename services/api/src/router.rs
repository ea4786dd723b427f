//! Every path of the api, and who answers it.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{Method, Uri};
use axum::middleware::from_fn_with_state;
use axum::routing::{get, patch, post};

use crate::app::App;
use crate::problem::{Kind, Problem};
use crate::{catalog, exports, observe, openapi, ops, search, stats, timeline, usage};

/// The path of one export, the only one that can be waited for.
pub(crate) const EXPORT: &str = "/v1/exports/{export_id}";

/// The router of this state.
pub(crate) fn router(app: App) -> Router {
    let body_limit = DefaultBodyLimit::max(app.config().api.body_bytes_max);
    Router::new()
        .route("/openapi.json", get(openapi::openapi))
        .route("/v1/exports", post(exports::create).get(exports::list))
        .route("/v1/exports/{export_id}", get(exports::show).delete(exports::delete))
        .route("/v1/exports/{export_id}/cancel", post(exports::cancel))
        .route("/v1/exports/{export_id}/retry", post(exports::retry))
        .route("/v1/exports/{export_id}/content", get(exports::content))
        .route("/v1/exports/{export_id}/events", get(exports::events))
        .route("/v1/exports/{export_id}/timeline", get(timeline::timeline))
        .route("/v1/datasets", get(catalog::datasets))
        .route("/v1/search", get(search::search))
        .route("/v1/stats", get(stats::stats))
        .route("/v1/usage", get(usage::usage))
        .merge(operators())
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .layer(body_limit)
        .layer(from_fn_with_state(app.clone(), observe::observe))
        .with_state(app)
}

/// The paths that only an operator's key opens.
fn operators() -> Router<App> {
    Router::new()
        .route("/v1/ops/tenants", post(ops::create_tenant).get(ops::list_tenants))
        .route("/v1/ops/tenants/{tenant_id}", patch(ops::limit_tenant))
        .route("/v1/ops/tenants/{tenant_id}/suspend", post(ops::suspend_tenant))
        .route("/v1/ops/tenants/{tenant_id}/resume", post(ops::resume_tenant))
        .route("/v1/ops/service-accounts", post(ops::create_service_account))
        .route("/v1/ops/api-keys", post(ops::create_api_key).get(ops::list_api_keys))
        .route("/v1/ops/api-keys/{api_key_id}/rotate", post(ops::rotate_api_key))
        .route("/v1/ops/api-keys/{api_key_id}/revoke", post(ops::revoke_api_key))
        .route("/v1/ops/datasets", post(ops::apply_dataset).get(ops::list_datasets))
        .route("/v1/ops/dataset-check", post(ops::check_dataset))
        .route("/v1/ops/datasets/{dataset}", get(ops::show_dataset))
        .route("/v1/ops/exports", get(ops::list_exports))
        .route("/v1/ops/exports/{export_id}", get(ops::show_export))
        .route("/v1/ops/exports/{export_id}/timeline", get(ops::export_timeline))
        .route("/v1/ops/exports/{export_id}/release", post(ops::release_export))
        .route("/v1/ops/exports/{export_id}/fail", post(ops::fail_export))
        .route("/v1/ops/objects", get(ops::list_objects))
        .route("/v1/ops/objects/unknown", get(ops::list_unknown_objects))
        .route("/v1/ops/outbox", get(ops::show_outbox))
        .route("/v1/ops/outbox/accept-topic", post(ops::accept_topic))
        .route("/v1/ops/parked", get(ops::list_parked))
        .route("/v1/ops/parked/retry", post(ops::retry_all_parked))
        .route("/v1/ops/parked/discard", post(ops::discard_all_parked))
        .route("/v1/ops/parked/{seq}", get(ops::show_parked))
        .route("/v1/ops/parked/{seq}/retry", post(ops::retry_parked))
        .route("/v1/ops/parked/{seq}/discard", post(ops::discard_parked))
}

async fn no_route(uri: Uri) -> Problem {
    Problem::new(&Kind::ROUTE_NOT_FOUND, format!("There is nothing at {}.", uri.path()))
}

async fn no_method(method: Method, uri: Uri) -> Problem {
    Problem::new(&Kind::METHOD_NOT_ALLOWED, format!("{} does not know {method}.", uri.path()))
}
