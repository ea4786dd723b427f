//! The durable record of an export: `export.jobs`.
//!
//! Deliberately absent: deciding. What may follow a state is `waybill_domain::job::decide`; this module stores what
//! was decided, and only where the fence and the state that were decided upon still stand. Claims are in
//! [`crate::claim`].

use std::collections::BTreeMap;

use jiff::Timestamp;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{GenericClient, Row};
use waybill_domain::export::{Compression, ExportRequest, Format, NotifyTarget, Spec};
use waybill_domain::ids::{CandidateId, ExportId, ServiceAccountId, TenantId};
use waybill_domain::job::{Decision, JobState, Lifecycle};
use waybill_domain::retention::{InvalidRetention, Retention};

use crate::StoreError;
use crate::candidate::AsOf;

/// The columns that [`Job::from_row`] reads, for statements that return a whole job.
pub const COLUMNS: &str = "export_id, tenant_id, service_account_id, dataset, dataset_revision, format, options, \
     compression, columns, filters, order_name, name, labels, notify, state, version, fence, lease_until, due_at, transient_failures, work_failures, lost_leases, retention_seconds, \
     expires_at, retry_of, result_candidate_id, failure_code, failure_detail, accepted_at, finished_at";

/// An export as its row says it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The export.
    pub export_id: ExportId,
    /// The tenant whose data it exports.
    pub tenant_id: TenantId,
    /// Who asked for it.
    pub service_account_id: ServiceAccountId,
    /// The data set, by its name.
    pub dataset: String,
    /// What its file is made by.
    pub spec: Spec,
    /// What the caller calls it.
    pub name: Option<String>,
    /// The caller's labels.
    pub labels: BTreeMap<String, String>,
    /// Who is told when it is done.
    pub notify: Vec<NotifyTarget>,
    /// State, version, fence and the times that move it.
    pub lifecycle: Lifecycle,
    /// The failed export that this one is another try of.
    pub retry_of: Option<ExportId>,
    /// The one candidate that counts, once one does.
    pub result_candidate_id: Option<CandidateId>,
    /// Why it failed, as a code of `docs/errors`.
    pub failure_code: Option<String>,
    /// Why it failed, in words.
    pub failure_detail: Option<String>,
    /// When it was accepted.
    pub accepted_at: Timestamp,
    /// When it reached an outcome.
    pub finished_at: Option<Timestamp>,
}

impl Job {
    /// Reads a job from a row that holds [`COLUMNS`], by their names.
    ///
    /// # Errors
    /// [`StoreError::Postgres`] for a column that is missing, [`StoreError::Decode`] for a value that is unknown.
    pub fn from_row(row: &Row) -> Result<Self, StoreError> {
        let labels: serde_json::Value = row.try_get("labels")?;
        let notify: serde_json::Value = row.try_get("notify")?;
        let result_candidate_id: Option<&str> = row.try_get("result_candidate_id")?;
        let retry_of: Option<&str> = row.try_get("retry_of")?;
        Ok(Self {
            export_id: decode("jobs.export_id", row.try_get("export_id")?, ExportId::parse)?,
            tenant_id: decode("jobs.tenant_id", row.try_get("tenant_id")?, TenantId::parse)?,
            service_account_id: decode(
                "jobs.service_account_id",
                row.try_get("service_account_id")?,
                ServiceAccountId::parse,
            )?,
            dataset: row.try_get("dataset")?,
            spec: spec(row)?,
            name: row.try_get("name")?,
            labels: decode_json("jobs.labels", labels)?,
            notify: decode_json("jobs.notify", notify)?,
            lifecycle: lifecycle(row)?,
            retry_of: retry_of.map(|text| decode("jobs.retry_of", text, ExportId::parse)).transpose()?,
            result_candidate_id: result_candidate_id
                .map(|text| decode("jobs.result_candidate_id", text, CandidateId::parse))
                .transpose()?,
            failure_code: row.try_get("failure_code")?,
            failure_detail: row.try_get("failure_detail")?,
            accepted_at: row.try_get("accepted_at")?,
            finished_at: row.try_get("finished_at")?,
        })
    }
}

fn spec(row: &Row) -> Result<Spec, StoreError> {
    Ok(Spec {
        dataset_revision: row.try_get("dataset_revision")?,
        format: decode("jobs.format", row.try_get("format")?, |text| {
            Format::parse(text).ok_or("not a format")
        })?,
        options: decode_json("jobs.options", row.try_get("options")?)?,
        compression: decode("jobs.compression", row.try_get("compression")?, |text| {
            Compression::parse(text).ok_or("not a compression")
        })?,
        columns: row.try_get("columns")?,
        filters: decode_json("jobs.filters", row.try_get("filters")?)?,
        order: row.try_get("order_name")?,
    })
}

fn lifecycle(row: &Row) -> Result<Lifecycle, StoreError> {
    let retention: Option<i64> = row.try_get("retention_seconds")?;
    let retention = retention.map(Retention::from_seconds).transpose();
    let invalid = |error: InvalidRetention| StoreError::Decode {
        column: "jobs.retention_seconds",
        detail: error.to_string(),
    };
    Ok(Lifecycle {
        state: decode("jobs.state", row.try_get("state")?, |text| {
            JobState::parse(text).ok_or("not a state")
        })?,
        version: row.try_get("version")?,
        fence: row.try_get("fence")?,
        lease_until: row.try_get("lease_until")?,
        due_at: row.try_get("due_at")?,
        transient_failures: row.try_get("transient_failures")?,
        work_failures: row.try_get("work_failures")?,
        lost_leases: row.try_get("lost_leases")?,
        retention: retention.map_err(invalid)?,
        expires_at: row.try_get("expires_at")?,
    })
}

/// What a worker has done so far in the latest attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The attempt's fence.
    pub fence: i64,
    /// When it began.
    pub claimed_at: Timestamp,
    /// When its worker last said how far it is.
    pub heartbeat_at: Timestamp,
    /// Rows written.
    pub rows_done: i64,
    /// Rows that the planner expects, where it was asked.
    pub rows_estimated: Option<i64>,
    /// Bytes written.
    pub bytes_done: i64,
}

/// The file that the job's row selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectedResult {
    /// Where the object store keeps it.
    pub object_key: String,
    /// Rows without the header.
    pub rows: i64,
    /// Its size.
    pub bytes: i64,
    /// The digest of its bytes.
    pub sha256: Vec<u8>,
    /// What its rows are of, where that was recorded.
    pub as_of: Option<AsOf>,
}

/// An export, its latest attempt and its result, of one snapshot.
#[derive(Debug, Clone, PartialEq)]
pub struct JobView {
    /// The export's row.
    pub job: Job,
    /// Its latest attempt, once there is one.
    pub progress: Option<Progress>,
    /// Its result, once one is selected.
    pub result: Option<SelectedResult>,
}

/// Stores an export as it is accepted, with what its request came to. `accepted` is `Lifecycle::accepted` at the transaction's
/// own `now()`.
///
/// # Errors
/// [`StoreError`], also where the tenant, the service account or the revision does not exist.
pub async fn insert(
    tx: &impl GenericClient,
    export_id: &ExportId,
    owner: (&TenantId, &ServiceAccountId),
    (request, spec): (&ExportRequest, &Spec),
    accepted: &Decision,
    now: Timestamp,
) -> Result<Job, StoreError> {
    let (tenant_id, service_account_id) = owner;
    let options = serde_json::json!(spec.options);
    let filters = serde_json::json!(spec.filters);
    let labels = serde_json::json!(request.labels);
    let notify = serde_json::json!(request.notify);
    let retention_seconds = accepted.next.retention.map(Retention::seconds);
    let parameters: [Parameter<'_>; 22] = [
        (&export_id.as_str(), Type::TEXT),
        (&tenant_id.as_str(), Type::TEXT),
        (&service_account_id.as_str(), Type::TEXT),
        (&request.dataset, Type::TEXT),
        (&spec.dataset_revision, Type::INT8),
        (&spec.format.as_str(), Type::TEXT),
        (&options, Type::JSONB),
        (&spec.compression.as_str(), Type::TEXT),
        (&spec.columns, Type::TEXT_ARRAY),
        (&filters, Type::JSONB),
        (&spec.order, Type::TEXT),
        (&request.name, Type::TEXT),
        (&labels, Type::JSONB),
        (&notify, Type::JSONB),
        (&accepted.next.state.as_str(), Type::TEXT),
        (&accepted.next.version, Type::INT8),
        (&accepted.next.fence, Type::INT8),
        (&accepted.next.due_at, Type::TIMESTAMPTZ),
        (&accepted.remind_at, Type::TIMESTAMPTZ),
        (&now, Type::TIMESTAMPTZ),
        (&retention_seconds, Type::INT8),
        (&accepted.next.expires_at, Type::TIMESTAMPTZ),
    ];
    let row = tx.query_typed_one(include_str!("job/insert.sql"), &parameters).await?;
    Job::from_row(&row)
}

/// Stores another try of a failed export, which asks for the same as that one did. `accepted` is what
/// `waybill_domain::job::retry` decided about it, under its row's lock, at the transaction's own `now()`.
///
/// # Errors
/// [`StoreError`].
pub async fn insert_retry(
    tx: &impl GenericClient,
    export_id: &ExportId,
    service_account_id: &ServiceAccountId,
    retry_of: &ExportId,
    accepted: &Decision,
    now: Timestamp,
) -> Result<Job, StoreError> {
    let parameters: [Parameter<'_>; 9] = [
        (&export_id.as_str(), Type::TEXT),
        (&service_account_id.as_str(), Type::TEXT),
        (&retry_of.as_str(), Type::TEXT),
        (&accepted.next.state.as_str(), Type::TEXT),
        (&accepted.next.version, Type::INT8),
        (&accepted.next.fence, Type::INT8),
        (&accepted.next.due_at, Type::TIMESTAMPTZ),
        (&accepted.remind_at, Type::TIMESTAMPTZ),
        (&now, Type::TIMESTAMPTZ),
    ];
    let row = tx.query_typed_one(include_str!("job/insert_retry.sql"), &parameters).await?;
    Job::from_row(&row)
}

/// An export of this tenant, or none; another tenant's is none.
///
/// # Errors
/// [`StoreError`].
pub async fn find(
    db: &impl GenericClient,
    tenant_id: &TenantId,
    export_id: &ExportId,
) -> Result<Option<JobView>, StoreError> {
    let parameters: [Parameter<'_>; 2] =
        [(&export_id.as_str(), Type::TEXT), (&tenant_id.as_str(), Type::TEXT)];
    let row = db.query_typed_opt(include_str!("job/find.sql"), &parameters).await?;
    row.as_ref().map(view_from_row).transpose()
}

pub(crate) fn view_from_row(row: &Row) -> Result<JobView, StoreError> {
    let fence: Option<i64> = row.try_get("attempt_fence")?;
    let progress = match fence {
        Some(fence) => Some(Progress {
            fence,
            claimed_at: row.try_get("attempt_claimed_at")?,
            heartbeat_at: row.try_get("attempt_heartbeat_at")?,
            rows_done: row.try_get("attempt_rows_done")?,
            rows_estimated: row.try_get("attempt_rows_estimated")?,
            bytes_done: row.try_get("attempt_bytes_done")?,
        }),
        None => None,
    };
    let object_key: Option<String> = row.try_get("result_object_key")?;
    let result = match object_key {
        Some(object_key) => Some(SelectedResult {
            object_key,
            rows: row.try_get("result_rows")?,
            bytes: row.try_get("result_bytes")?,
            sha256: row.try_get("result_sha256")?,
            as_of: AsOf::from_columns(row, "result_as_of_lsn", "result_as_of_at")?,
        }),
        None => None,
    };
    Ok(JobView { job: Job::from_row(row)?, progress, result })
}

/// An export of any tenant, locked until the transaction ends. For what an operator decides.
///
/// # Errors
/// [`StoreError`].
pub async fn lock(tx: &impl GenericClient, export_id: &ExportId) -> Result<Option<Job>, StoreError> {
    let row = tx.query_opt(include_str!("job/lock.sql"), &[&export_id.as_str()]).await?;
    row.as_ref().map(Job::from_row).transpose()
}

/// The failed export that this one is another try of.
///
/// # Errors
/// [`StoreError`].
pub async fn retry_of(db: &impl GenericClient, export_id: &ExportId) -> Result<Option<ExportId>, StoreError> {
    let parameters: [Parameter<'_>; 1] = [(&export_id.as_str(), Type::TEXT)];
    let row = db.query_typed_opt(include_str!("job/retry_of.sql"), &parameters).await?;
    let Some(row) = row else { return Ok(None) };
    let retry_of: Option<&str> = row.try_get("retry_of")?;
    retry_of.map(|text| decode("jobs.retry_of", text, ExportId::parse)).transpose()
}

/// The transaction's time: what decisions about a job are made with, never this machine's clock.
///
/// # Errors
/// [`StoreError`].
pub async fn now(tx: &impl GenericClient) -> Result<Timestamp, StoreError> {
    Ok(tx.query_one(include_str!("job/now.sql"), &[]).await?.try_get("now")?)
}

/// Why a job failed, as it is stored and published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure<'a> {
    /// A code of `docs/errors`.
    pub code: &'a str,
    /// The same in words, for the caller.
    pub detail: &'a str,
}

/// Stores what was decided upon `before`, or answers `None` where the row is no longer what was decided upon.
///
/// # Errors
/// [`StoreError`].
pub async fn store_decision(
    tx: &impl GenericClient,
    export_id: &ExportId,
    before: &Lifecycle,
    decision: &Decision,
    failure: Option<Failure<'_>>,
) -> Result<Option<Job>, StoreError> {
    let next = &decision.next;
    let finished = next.state.is_terminal();
    let row = tx
        .query_opt(
            include_str!("job/store_decision.sql"),
            &[
                &export_id.as_str(),
                &before.fence,
                &before.state.as_str(),
                &before.version,
                &next.state.as_str(),
                &next.version,
                &next.fence,
                &next.lease_until,
                &next.due_at,
                &decision.remind_at,
                &next.transient_failures,
                &next.work_failures,
                &next.lost_leases,
                &failure.as_ref().map(|failure| failure.code),
                &failure.as_ref().map(|failure| failure.detail),
                &finished,
            ],
        )
        .await?;
    row.as_ref().map(Job::from_row).transpose()
}

/// A value and its type. Statements on a request's way name the types, which saves them the round trip of a prepare.
pub(crate) type Parameter<'a> = (&'a (dyn ToSql + Sync), Type);

/// Takes a stored text that must be one of the values this version knows.
pub(crate) fn decode<T, E: std::fmt::Display>(
    column: &'static str,
    text: &str,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Result<T, StoreError> {
    parse(text).map_err(|error| StoreError::Decode { column, detail: format!("{text:?}: {error}") })
}

fn decode_json<T: serde::de::DeserializeOwned>(
    column: &'static str,
    value: serde_json::Value,
) -> Result<T, StoreError> {
    serde_json::from_value(value).map_err(|error| StoreError::Decode { column, detail: error.to_string() })
}

/// The versions of those of these exports that there are.
///
/// # Errors
/// [`StoreError::Postgres`].
pub async fn versions(
    db: &impl GenericClient,
    export_ids: &[&str],
) -> Result<Vec<(String, i64)>, StoreError> {
    let rows = db.query_typed(include_str!("job/versions.sql"), &[(&export_ids, Type::TEXT_ARRAY)]).await?;
    let version = |row: &Row| Ok((row.try_get("export_id")?, row.try_get("version")?));
    rows.iter().map(version).collect()
}

/// Raises the exports' versions to these, where they are lower, and answers how many were: after a restore the log holds
/// facts with versions that must not be given out a second time.
///
/// # Errors
/// [`StoreError::Postgres`].
pub async fn raise_versions(
    tx: &impl GenericClient,
    export_ids: &[&str],
    versions: &[i64],
) -> Result<u64, StoreError> {
    let parameters: &[(&(dyn ToSql + Sync), Type)] =
        &[(&export_ids, Type::TEXT_ARRAY), (&versions, Type::INT8_ARRAY)];
    Ok(tx.execute_typed(include_str!("job/raise_versions.sql"), parameters).await?)
}

#[cfg(test)]
mod tests {
    use super::COLUMNS;

    /// The columns a text names, without the tables that qualify them.
    fn names(sql: &str) -> Vec<String> {
        sql.replace("jobs.", "").split([' ', ',', '\n', ';']).map(str::to_owned).collect()
    }

    /// The columns that an INSERT fills.
    fn inserted(sql: &str) -> Vec<String> {
        let (_, columns) = sql.split_once("export.jobs (").unwrap();
        names(columns.split_once(')').unwrap().0)
    }

    #[test]
    fn a_retry_asks_for_everything_that_the_failed_export_asked_for() {
        let retried = inserted(include_str!("job/insert_retry.sql"));
        for column in inserted(include_str!("job/insert.sql")) {
            assert!(retried.contains(&column), "{column} is not copied");
        }
        assert!(retried.contains(&"retry_of".to_owned()));
    }

    #[test]
    fn every_statement_that_returns_a_job_names_each_of_its_columns() {
        let statements = [
            include_str!("job/insert.sql"),
            include_str!("job/insert_retry.sql"),
            include_str!("job/find.sql"),
            include_str!("job/lock.sql"),
            include_str!("job/store_decision.sql"),
        ];
        for sql in statements {
            let (_, returned) = sql.rsplit_once("RETURNING").or_else(|| sql.split_once("SELECT")).unwrap();
            let returned = names(returned);
            for column in names(COLUMNS).iter().filter(|name| !name.is_empty()) {
                assert!(returned.contains(column), "{column} is missing in\n{sql}");
            }
        }
    }
}
