//! `POST /v1/exports/{id}/retry`: a new export that asks for the same as a failed one. An intent of its own stands for it,
//! with the same rules as for any export.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use sha2::{Digest, Sha256};
use waybill_domain::ids::ExportId;
use waybill_store::api_key::Scope;
use waybill_store::intent::{self, Intent, IntentKey};
use waybill_store::job;

use super::accept::{Acceptance, Accepted, Wish, accept};
use super::create::{answer_as_it_is, answer_new};
use super::{not_found, parse_id};
use crate::app::App;
use crate::principal::Principal;
use crate::problem::{Answer, Kind, Problem};
use crate::request::{PathId, idempotency_key};

/// The operation of the intents that stand for a retry.
const OPERATION: &str = "export.retry";

/// Accepts another try of a failed export, or answers the one that the intent stands for already.
pub(crate) async fn retry(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId,
    headers: HeaderMap,
) -> Answer<Response> {
    let tenant_id = principal.tenant(Scope::ExportsWrite)?;
    let key = IntentKey {
        service_account_id: &principal.service_account_id,
        operation: OPERATION,
        idempotency_key: idempotency_key(&headers)?,
    };
    let failed = parse_id(&id)?;
    // The id is all that such a request says.
    let request_sha256: [u8; 32] = Sha256::digest(failed.as_str()).into();
    let known = intent::find(&**app.export().await?, key).await?;
    let accepted = match known {
        Some(known) => Accepted::Known(known),
        None => {
            let wish = Wish::RetryOf(&failed);
            accept(&app, &Acceptance { tenant_id, key, wish, request: None, request_sha256: &request_sha256 })
                .await?
        }
    };
    match accepted {
        Accepted::New(job) => {
            metrics::counter!(crate::metrics::EXPORTS_ACCEPTED).increment(1);
            tracing::info!(export_id = %job.export_id, retry_of = %failed, "accepted another try of an export");
            Ok(answer_new(*job))
        }
        Accepted::Known(known) if known.request_sha256 != request_sha256 => {
            Err(mismatch(&app, &known).await?)
        }
        Accepted::Known(known) => answer_as_it_is(&app, tenant_id, &known.export_id).await,
    }
}

/// The key stands for another try, of another export.
async fn mismatch(app: &App, known: &Intent) -> Answer<Problem> {
    let of = retried(app, &known.export_id).await?;
    let detail = format!(
        "This Idempotency-Key stands for {}, another try of {of}, since {}.",
        known.export_id, known.created_at
    );
    Ok(Problem::new(&Kind::INTENT_MISMATCH, detail)
        .with("export_id", known.export_id.as_str().into())
        .with("differs_in", ["retry_of"].as_slice().into()))
}

async fn retried(app: &App, export_id: &ExportId) -> Answer<ExportId> {
    let of = job::retry_of(&**app.export().await?, export_id).await?;
    of.ok_or_else(|| not_found(export_id.as_str()))
}
