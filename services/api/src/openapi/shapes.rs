//! What is answered. Every member that stands here is always there; one without a value yet is `null`.
//!
//! These are shapes alone: answers are put together where they are given. That they are as is said here is checked from
//! outside, against the running service.

#![expect(dead_code, reason = "only their shapes are of use")]

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;
use utoipa::ToSchema;

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub(super) enum Form {
    Csv,
    Ndjson,
    Parquet,
}

/// What an answer's `X-Request-Id` is.
pub(super) const REQUEST_ID: &str = "^[A-Za-z0-9._-]{1,128}$";

/// A refusal or a failure (RFC 9457).
#[derive(ToSchema)]
pub(super) struct Problem {
    /// `urn:waybill:problem:` and the code.
    #[schema(pattern = "^urn:waybill:problem:[a-z-]+$")]
    r#type: String,
    title: String,
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// What is said about this one occurrence.
    detail: String,
    /// The slug, which has a page in docs/errors.
    #[schema(pattern = "^[a-z-]+$")]
    code: String,
    /// What to do.
    next: String,
    /// The fields that are not as they should be.
    #[schema(nullable = false)]
    errors: Option<Vec<FieldError>>,
}

#[derive(ToSchema)]
pub(super) struct FieldError {
    /// A path such as `notify[1].target`; empty for the whole body.
    field: String,
    problem: String,
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub(super) enum State {
    Pending,
    Running,
    Quarantined,
    Succeeded,
    Failed,
    Cancelled,
    Expired,
    Deleted,
}

/// An export.
#[derive(ToSchema)]
pub(super) struct Export {
    #[schema(pattern = "^exp_[0-9a-f]{32}$")]
    export_id: String,
    state: State,
    /// One more whenever a fact about it is published.
    #[schema(minimum = 1)]
    version: i64,
    dataset: String,
    dataset_revision: i64,
    format: Form,
    #[schema(value_type = Object)]
    options: Value,
    compression: String,
    columns: Vec<String>,
    #[schema(value_type = Object)]
    filters: Value,
    #[schema(required)]
    order: Option<String>,
    #[schema(required)]
    name: Option<String>,
    labels: BTreeMap<String, String>,
    notify: Vec<Target>,
    accepted_at: Timestamp,
    #[schema(required)]
    finished_at: Option<Timestamp>,
    #[schema(required)]
    expires_at: Option<Timestamp>,
    #[schema(required)]
    retry_of: Option<String>,
    #[schema(required)]
    progress: Option<Progress>,
    #[schema(required)]
    result: Option<ExportResult>,
    #[schema(required)]
    failure: Option<Failure>,
    links: Links,
}

#[derive(ToSchema)]
pub(super) struct Target {
    #[schema(pattern = "^(email|webhook)$")]
    channel: String,
    target: String,
}

/// One event of a stream, read as the WHATWG's HTML has it in section 9.2: OpenAPI 3.1 has no words for the stream itself.
#[derive(ToSchema)]
pub(super) struct Event {
    #[schema(pattern = "^[0-9]+-[0-9a-f]+$")]
    id: String,
    #[schema(pattern = "^export$")]
    event: String,
    /// An export.
    #[schema(content_media_type = "application/json")]
    data: String,
    /// Of the first event: how many milliseconds to wait before coming back.
    #[schema(nullable = false)]
    retry: Option<i64>,
}

/// How far the latest attempt is.
#[derive(ToSchema)]
pub(super) struct Progress {
    fence: i64,
    rows_done: i64,
    #[schema(required)]
    rows_estimated: Option<i64>,
    bytes_done: i64,
    #[schema(required)]
    rows_per_second: Option<f64>,
    heartbeat_at: Timestamp,
    #[schema(required)]
    done_estimated_at: Option<Timestamp>,
}

#[derive(ToSchema)]
pub(super) struct ExportResult {
    rows: i64,
    bytes: i64,
    #[schema(pattern = "^[0-9a-f]{64}$")]
    sha256: String,
    #[schema(required)]
    as_of: Option<AsOf>,
}

/// Of which moment the rows are.
#[derive(ToSchema)]
pub(super) struct AsOf {
    lsn: String,
    at: Timestamp,
}

#[derive(ToSchema)]
pub(super) struct Failure {
    /// A page of docs/errors.
    code: String,
    #[schema(required)]
    detail: Option<String>,
}

#[derive(ToSchema)]
pub(super) struct Links {
    #[schema(rename = "self")]
    own: String,
    #[schema(required)]
    content: Option<String>,
    timeline: String,
}

#[derive(ToSchema)]
pub(super) struct ExportPage {
    exports: Vec<Export>,
    /// The next page's `after`.
    #[schema(required)]
    next: Option<String>,
}

/// The steps of an export's way, reached or not.
#[derive(ToSchema)]
pub(super) struct Timeline {
    export_id: String,
    state: State,
    steps: Vec<Step>,
    /// The schemas that could not be read just now.
    unavailable: Vec<String>,
}

/// A step, with what belongs to its kind beside it.
#[derive(ToSchema)]
pub(super) struct Step {
    step: String,
    #[schema(required)]
    at: Option<Timestamp>,
    #[schema(required)]
    since_previous_ms: Option<f64>,
    #[schema(required)]
    since_accepted_ms: Option<f64>,
}

#[derive(ToSchema)]
pub(super) struct Datasets {
    datasets: Vec<Value>,
    #[schema(required)]
    next: Option<String>,
}

#[derive(ToSchema)]
pub(super) struct Hits {
    query: String,
    exports: Vec<Value>,
}

#[derive(ToSchema)]
pub(super) struct Counters {
    datasets: Vec<Counter>,
}

#[derive(ToSchema)]
pub(super) struct Counter {
    dataset: String,
    requested: i64,
    succeeded: i64,
    failed: i64,
    cancelled: i64,
    expired: i64,
    deleted: i64,
    rows: i64,
    bytes: i64,
    updated_at: Timestamp,
}

/// What a tenant may have, and has.
#[derive(ToSchema)]
pub(super) struct Usage {
    asked_at: Timestamp,
    waiting: Use,
    running: Use,
    rows_a_day: UseOfADay,
    bytes_kept: Use,
}

#[derive(ToSchema)]
pub(super) struct Use {
    #[schema(required)]
    limit: Option<i64>,
    used: i64,
}

#[derive(ToSchema)]
pub(super) struct UseOfADay {
    #[schema(required)]
    limit: Option<i64>,
    used: i64,
    day_ends_at: Timestamp,
}

#[derive(ToSchema)]
pub(super) struct Tenant {
    #[schema(pattern = "^ten_[0-9a-f]{32}$")]
    tenant_id: String,
    name: String,
    #[schema(pattern = "^(active|suspended)$")]
    state: String,
    running_limit: i64,
    waiting_limit: i64,
    #[schema(required)]
    rows_a_day_limit: Option<i64>,
    #[schema(required)]
    bytes_kept_limit: Option<i64>,
    created_at: Timestamp,
}

#[derive(ToSchema)]
pub(super) struct Tenants {
    tenants: Vec<Tenant>,
    #[schema(required)]
    next: Option<String>,
}

#[derive(ToSchema)]
pub(super) struct ServiceAccount {
    #[schema(pattern = "^sva_[0-9a-f]{32}$")]
    service_account_id: String,
    #[schema(required)]
    tenant_id: Option<String>,
    name: String,
    created_at: Timestamp,
}

#[derive(ToSchema)]
pub(super) struct ApiKey {
    #[schema(pattern = "^key_[0-9a-f]{32}$")]
    api_key_id: String,
    service_account_id: String,
    scopes: Vec<String>,
    created_by: String,
    created_at: Timestamp,
    #[schema(required)]
    expires_at: Option<Timestamp>,
    #[schema(required)]
    revoked_at: Option<Timestamp>,
    #[schema(required)]
    rotated_from: Option<String>,
    /// Only in the answer that makes it.
    #[schema(nullable = false)]
    api_key: Option<String>,
}

#[derive(ToSchema)]
pub(super) struct ApiKeys {
    api_keys: Vec<ApiKey>,
    #[schema(required)]
    next: Option<String>,
}

/// An object whose members docs/api.md names.
#[derive(ToSchema)]
#[schema(value_type = Object)]
pub(super) struct Described(Value);
