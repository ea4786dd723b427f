//! `GET /v1/exports/{id}/content`: the one file that the job's row selected, and no other.

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_NONE_MATCH,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::response::Builder;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use object_store::{GetResult, ObjectStoreExt};
use waybill_domain::hex;
use waybill_domain::job::JobState;
use waybill_store::api_key::Scope;
use waybill_store::job::{Job, SelectedResult};

use super::file_name::{content_disposition, media_type};
use super::find;
use super::verified::{Expected, verified};
use crate::app::App;
use crate::principal::Principal;
use crate::problem::{Answer, Kind, Problem};
use crate::request::PathId;

/// Streams the result. Authorised against the job's row on each request; there is no other way to the file.
pub(crate) async fn content(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId,
    request_headers: HeaderMap,
) -> Answer<Response> {
    let tenant_id = principal.tenant(Scope::ExportsRead)?;
    let view = find(&app, tenant_id, &id).await?;
    let (job, Some(result)) = (&view.job, &view.result) else { return Err(not_ready(&view.job)) };
    if job.lifecycle.state != JobState::Succeeded {
        return Err(not_ready(job));
    }
    let etag = format!("\"{}\"", hex(&result.sha256));
    let builder = Response::builder()
        .header(ETAG, &etag)
        .header("repr-digest", format!("sha-256=:{}:", STANDARD.encode(&result.sha256)))
        .header(CACHE_CONTROL, "private, no-cache");
    if names(&request_headers, &etag) {
        return finish(builder.status(StatusCode::NOT_MODIFIED), Body::empty());
    }
    let object = open(&app, job, result).await?;
    let expected = Expected {
        export_id: job.export_id.to_string(),
        bytes: object.meta.size,
        sha256: result.sha256.clone(),
    };
    let builder = builder
        .header(CONTENT_TYPE, media_type(&job.spec))
        .header(CONTENT_LENGTH, object.meta.size)
        .header(CONTENT_DISPOSITION, content_disposition(job))
        .header(ACCEPT_RANGES, "none")
        .header(X_CONTENT_TYPE_OPTIONS, "nosniff");
    finish(builder, Body::from_stream(verified(object.into_stream(), expected)))
}

/// The object, if it is there and as large as it was when it was verified.
async fn open(app: &App, job: &Job, result: &SelectedResult) -> Answer<GetResult> {
    let missing = |detail: &str| {
        tracing::error!(
            code = Kind::RESULT_MISSING.code,
            export_id = %job.export_id,
            object_key = result.object_key,
            detail,
            "a selected result cannot be read"
        );
        Problem::new(
            &Kind::RESULT_MISSING,
            format!("The file of {} is not as it was verified.", job.export_id),
        )
    };
    let path =
        object_store::path::Path::parse(&result.object_key).map_err(|error| missing(&error.to_string()))?;
    let object = match app.objects().get(&path).await {
        Ok(object) => object,
        Err(error @ object_store::Error::NotFound { .. }) => return Err(missing(&error.to_string())),
        Err(error) => {
            let detail = waybill_runtime::chain(&error);
            tracing::warn!(
                code = Kind::OBJECT_STORE_UNAVAILABLE.code,
                detail,
                "the object store failed a request"
            );
            return Err(Problem::new(&Kind::OBJECT_STORE_UNAVAILABLE, "The object store did not answer."));
        }
    };
    if i64::try_from(object.meta.size) != Ok(result.bytes) {
        return Err(missing(&format!("{} bytes instead of {}", object.meta.size, result.bytes)));
    }
    Ok(object)
}

fn not_ready(job: &Job) -> Problem {
    let (kind, detail) = match job.lifecycle.state {
        JobState::Pending | JobState::Running => (&Kind::EXPORT_NOT_READY, "It is not done yet."),
        JobState::Quarantined => (&Kind::EXPORT_NOT_READY, "It waits for an operator's decision."),
        JobState::Succeeded | JobState::Failed => (&Kind::EXPORT_NOT_READY, "It ended without a result."),
        JobState::Cancelled => (&Kind::EXPORT_NOT_READY, "It was cancelled and has no result."),
        JobState::Expired => (&Kind::RESULT_EXPIRED, "Its result's time is over."),
        JobState::Deleted => (&Kind::EXPORT_DELETED, "It was deleted."),
    };
    Problem::new(kind, detail).with("state", job.lifecycle.state.as_str().into())
}

/// Whether the caller has this representation already (RFC 9110, section 13.1.2).
fn names(headers: &HeaderMap, etag: &str) -> bool {
    headers
        .get_all(IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|tag| tag.trim().trim_start_matches("W/"))
        .any(|tag| tag == etag || tag == "*")
}

fn finish(builder: Builder, body: Body) -> Answer<Response> {
    builder.body(body).map_err(|error| Problem::internal(&error))
}
