//! `POST /v1/exports`: one export for one intent, however often and from wherever it is asked for.

use axum::Json;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, LOCATION, RETRY_AFTER};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use waybill_domain::export::ExportRequest;
use waybill_domain::ids::{ExportId, TenantId};
use waybill_fault_points::{Point, reach};
use waybill_store::api_key::Scope;
use waybill_store::intent::{self, Intent, IntentKey};
use waybill_store::job::{self, Job, JobView};

use super::accept::{Acceptance, Accepted, Wish, accept};
use super::mismatch::differences;
use super::{not_found, representation};
use crate::app::App;
use crate::principal::Principal;
use crate::problem::{Answer, Kind, Problem, RETRY_AFTER_SECONDS};
use crate::request::{JsonBody, idempotency_key};

/// The operation of the intents that stand for an export.
const OPERATION: &str = "export.create";

/// Accepts an export, or answers the one that the intent stands for already.
pub(crate) async fn create(
    State(app): State<App>,
    principal: Principal,
    headers: HeaderMap,
    body: JsonBody,
) -> Answer<Response> {
    let tenant_id = principal.tenant(Scope::ExportsWrite)?;
    let key = IntentKey {
        service_account_id: &principal.service_account_id,
        operation: OPERATION,
        idempotency_key: idempotency_key(&headers)?,
    };
    let request = ExportRequest::parse(&body.0).map_err(|errors| Problem::fields(&errors))?;
    let request_sha256: [u8; 32] = Sha256::digest(request.canonical()).into();
    let said = json!(request);

    // A known intent is answered before anything else is looked at: what it stands for was valid when it was taken.
    let known = intent::find(&**app.export().await?, key).await?;
    if let Some(known) = known {
        return answer_known(&app, tenant_id, &known, &said, &request_sha256).await;
    }
    let wish = Wish::Export(&request);
    let acceptance =
        Acceptance { tenant_id, key, wish, request: Some(&said), request_sha256: &request_sha256 };
    match accept(&app, &acceptance).await? {
        Accepted::New(job) => {
            reach(Point::ApiCommitted);
            metrics::counter!(crate::metrics::EXPORTS_ACCEPTED).increment(1);
            tracing::info!(export_id = %job.export_id, dataset = job.dataset, "accepted an export");
            Ok(answer_new(*job))
        }
        Accepted::Known(known) => answer_known(&app, tenant_id, &known, &said, &request_sha256).await,
    }
}

/// What a new export is answered with.
pub(super) fn answer_new(job: Job) -> Response {
    let export_id = job.export_id.clone();
    let view = JobView { job, progress: None, result: None };
    (StatusCode::ACCEPTED, links(&export_id, false), Json(representation(&view))).into_response()
}

async fn answer_known(
    app: &App,
    tenant_id: &TenantId,
    known: &Intent,
    request: &Value,
    request_sha256: &[u8; 32],
) -> Answer<Response> {
    let view = job::find(&**app.export().await?, tenant_id, &known.export_id).await?;
    let view = view.ok_or_else(|| not_found(known.export_id.as_str()))?;
    if known.request_sha256 != request_sha256 {
        let differences = differences(request, known.request.as_ref());
        return Err(Problem::new(
            &Kind::INTENT_MISMATCH,
            format!(
                "This Idempotency-Key stands for {} since {}; this request differs in {}.",
                known.export_id,
                known.created_at,
                differences.join(", ")
            ),
        )
        .with("export_id", known.export_id.as_str().into())
        .with("differs_in", differences.into()));
    }
    Ok(as_it_is(&view))
}

/// What an intent that is known is answered with: its export as it is now.
pub(super) async fn answer_as_it_is(
    app: &App,
    tenant_id: &TenantId,
    export_id: &ExportId,
) -> Answer<Response> {
    let view = job::find(&**app.export().await?, tenant_id, export_id).await?;
    Ok(as_it_is(&view.ok_or_else(|| not_found(export_id.as_str()))?))
}

fn as_it_is(view: &JobView) -> Response {
    let headers = links(&view.job.export_id, view.job.lifecycle.state.is_terminal());
    (StatusCode::OK, headers, Json(representation(view))).into_response()
}

/// Where the export is, and when to look again while it is under way.
fn links(export_id: &ExportId, is_terminal: bool) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CACHE_CONTROL, axum::http::HeaderValue::from_static("no-store"));
    // An id is made of digits and letters only, which every header value may hold.
    if let Ok(location) = format!("/v1/exports/{export_id}").parse() {
        headers.insert(LOCATION, location);
    }
    if !is_terminal {
        headers.insert(RETRY_AFTER, RETRY_AFTER_SECONDS.into());
    }
    headers
}
