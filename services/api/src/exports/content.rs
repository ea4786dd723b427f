//! `GET /v1/exports/{id}/content`: the one file that the job's row selected, and no other.

use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG,
    LOCATION, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::response::Builder;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, GetResult};
use waybill_domain::job::JobState;
use waybill_domain::limits::LINK_MINUTES_MAX;
use waybill_runtime::config::Content;
use waybill_store::api_key::Scope;
use waybill_store::job::{Job, SelectedResult};

use super::file_name::{content_disposition, media_type};
use super::find;
use super::range::{Wanted, wanted};
use super::verified::{Expected, verified};
use crate::app::App;
use crate::conditional::{has, part_is_of, quoted};
use crate::principal::Principal;
use crate::problem::{Answer, Kind, Problem};
use crate::request::PathId;

const SECONDS_OF_A_MINUTE: u64 = 60;

/// Streams the result, or a part of it, or sends the caller to the store for it. Authorised against the job's row on each
/// request; there is no other way to the file.
pub(crate) async fn content(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId,
    method: Method,
    request_headers: HeaderMap,
) -> Answer<Response> {
    let tenant_id = principal.tenant(Scope::ExportsRead)?;
    let view = find(&app, tenant_id, &id).await?;
    let (job, Some(result)) = (&view.job, &view.result) else { return Err(not_ready(&view.job)) };
    if job.lifecycle.state != JobState::Succeeded {
        return Err(not_ready(job));
    }
    let etag = quoted(&waybill_domain::hex(&result.sha256));
    let builder = Response::builder()
        .header(ETAG, &etag)
        .header("repr-digest", format!("sha-256=:{}:", STANDARD.encode(&result.sha256)))
        .header(CACHE_CONTROL, "private, no-cache");
    if has(&request_headers, &etag) {
        return finish(builder.status(StatusCode::NOT_MODIFIED), Body::empty());
    }
    let file = File { job, result, path: path(job, result)? };
    if method == Method::HEAD {
        let object = open(&app, &file, head()).await?;
        return finish(described(builder, job).header(CONTENT_LENGTH, object.meta.size), Body::empty());
    }
    if let Some(link) = link(&app, &file).await? {
        return finish(builder.status(StatusCode::FOUND).header(LOCATION, link), Body::empty());
    }
    let size = u64::try_from(result.bytes).unwrap_or(0);
    match wanted(&request_headers, size) {
        Wanted::Part { first, last } if part_is_of(&request_headers, &etag) => {
            part(&app, &file, builder, (first, last)).await
        }
        Wanted::Beyond if part_is_of(&request_headers, &etag) => {
            Err(Problem::new(&Kind::RANGE_NOT_SATISFIABLE, format!("The file has {size} bytes."))
                .header(CONTENT_RANGE, format!("bytes */{size}")))
        }
        Wanted::Whole | Wanted::Part { .. } | Wanted::Beyond => whole(&app, &file, builder).await,
    }
}

/// A result and where it lies.
struct File<'a> {
    job: &'a Job,
    result: &'a SelectedResult,
    path: Path,
}

/// All of it, compared with its digest on its way out.
async fn whole(app: &App, file: &File<'_>, builder: Builder) -> Answer<Response> {
    let object = open(app, file, GetOptions::default()).await?;
    let expected = Expected {
        export_id: file.job.export_id.to_string(),
        bytes: object.meta.size,
        sha256: file.result.sha256.clone(),
    };
    let builder = described(builder, file.job).header(CONTENT_LENGTH, object.meta.size);
    finish(builder, Body::from_stream(verified(object.into_stream(), expected)))
}

/// A part of it. Only the file's size can be compared here; the digest is of the whole, and whoever has all parts compares it.
async fn part(app: &App, file: &File<'_>, builder: Builder, (first, last): (u64, u64)) -> Answer<Response> {
    let range = Some(GetRange::Bounded(first..last + 1));
    let object = open(app, file, GetOptions { range, ..GetOptions::default() }).await?;
    let size = object.meta.size;
    if object.range != (first..last + 1) {
        return Err(missing(file.job, file.result, &format!("the store sends {:?}", object.range)));
    }
    let builder = described(builder, file.job)
        .status(StatusCode::PARTIAL_CONTENT)
        .header(CONTENT_RANGE, format!("bytes {first}-{last}/{size}"))
        .header(CONTENT_LENGTH, last - first + 1);
    finish(builder, Body::from_stream(object.into_stream()))
}

/// Where the caller is to read it from the store itself, if it is to. The link is made only while the file is there and as
/// large as it was verified to be.
async fn link(app: &App, file: &File<'_>) -> Answer<Option<String>> {
    if app.config().api.content != Content::Link || !app.objects().can_link() {
        return Ok(None);
    }
    open(app, file, head()).await?;
    let life = Duration::from_secs(LINK_MINUTES_MAX * SECONDS_OF_A_MINUTE);
    let link = app
        .objects()
        .link(&file.path, life, &content_disposition(file.job), media_type(&file.job.spec))
        .await;
    Ok(link.map_err(|error| Problem::store_unavailable(&error))?.map(Into::into))
}

fn head() -> GetOptions {
    GetOptions { head: true, ..GetOptions::default() }
}

fn described(builder: Builder, job: &Job) -> Builder {
    builder
        .header(CONTENT_TYPE, media_type(&job.spec))
        .header(CONTENT_DISPOSITION, content_disposition(job))
        .header(ACCEPT_RANGES, "bytes")
        .header(X_CONTENT_TYPE_OPTIONS, "nosniff")
}

fn path(job: &Job, result: &SelectedResult) -> Answer<Path> {
    Path::parse(&result.object_key).map_err(|error| missing(job, result, &error.to_string()))
}

/// The object, if it is there and as large as it was when it was verified.
async fn open(app: &App, file: &File<'_>, options: GetOptions) -> Answer<GetResult> {
    let File { job, result, path } = file;
    let object = match app.objects().get_opts(path, options).await {
        Ok(object) => object,
        Err(error @ object_store::Error::NotFound { .. }) => {
            return Err(missing(job, result, &error.to_string()));
        }
        Err(error) => return Err(Problem::store_unavailable(&error)),
    };
    if i64::try_from(object.meta.size) != Ok(result.bytes) {
        return Err(missing(job, result, &format!("{} bytes instead of {}", object.meta.size, result.bytes)));
    }
    Ok(object)
}

fn missing(job: &Job, result: &SelectedResult, detail: &str) -> Problem {
    tracing::error!(
        code = Kind::RESULT_MISSING.code,
        export_id = %job.export_id,
        object_key = result.object_key,
        detail,
        "a selected result cannot be read"
    );
    Problem::new(&Kind::RESULT_MISSING, format!("The file of {} is not as it was verified.", job.export_id))
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

fn finish(builder: Builder, body: Body) -> Answer<Response> {
    builder.body(body).map_err(|error| Problem::internal(&error))
}
