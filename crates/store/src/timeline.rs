//! What is stored about the way of one export, read for its timeline.
//!
//! Each function reads one schema (export and outbox are one database), so that every schema may live elsewhere.
//! Deliberately absent: putting the rows together. That is the caller's.

use jiff::Timestamp;
use tokio_postgres::GenericClient;
use waybill_domain::attempt::AttemptState;
use waybill_domain::ids::{ExportId, TenantId};

use crate::StoreError;
use crate::job::decode;

/// A command that was written for an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandStep {
    /// The command.
    pub command_id: String,
    /// Why it was written: `accepted`, `overdue` or `released`.
    pub reason: String,
    /// When it was written.
    pub created_at: Timestamp,
    /// When the relay recorded that Kafka has it.
    pub acknowledged_at: Option<Timestamp>,
}

/// A fact that was published about an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactStep {
    /// The export's version that it states.
    pub version: i64,
    /// The fact.
    pub event_id: String,
    /// Its CloudEvents type.
    pub event_type: String,
    /// When it was written.
    pub created_at: Timestamp,
    /// When the relay recorded that Kafka has it.
    pub acknowledged_at: Option<Timestamp>,
}

/// One try, and the candidate that it wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptStep {
    /// The attempt's number: 1, 2, 3.
    pub number: i32,
    /// The fence that it claimed under, which leaves numbers out.
    pub fence: i64,
    /// Who tried.
    pub worker: String,
    /// How it stands.
    pub state: AttemptState,
    /// When it began.
    pub claimed_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Rows written.
    pub rows_done: i64,
    /// Bytes written.
    pub bytes_done: i64,
    /// Why it failed, as a code of `docs/errors`.
    pub error_code: Option<String>,
    /// Why it failed, in words.
    pub error_detail: Option<String>,
    /// The file it wrote.
    pub candidate: Option<CandidateStep>,
}

/// A file that an attempt wrote and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CandidateStep {
    /// The candidate.
    pub candidate_id: String,
    /// Rows without the header, once counted.
    pub rows: Option<i64>,
    /// Its size, once known.
    pub bytes: Option<i64>,
    /// When size, rows and digest were verified.
    pub verified_at: Option<Timestamp>,
}

/// What search holds of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchStep {
    /// The version that it holds.
    pub version: i64,
    /// The fact that carried it.
    pub event_id: String,
    /// When it was applied.
    pub applied_at: Timestamp,
}

/// Somebody who is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotificationStep {
    /// The notification.
    pub notification_id: String,
    /// The fact it tells of.
    pub event_id: String,
    /// `email` or `webhook`.
    pub channel: String,
    /// The address.
    pub target: String,
    /// What is told, such as `export.succeeded`.
    pub kind: String,
    /// How it stands.
    pub state: String,
    /// How many tries there were.
    pub attempts: i32,
    /// When it was made.
    pub created_at: Timestamp,
    /// When its latest try began.
    pub last_attempt_at: Option<Timestamp>,
    /// When its outcome was known.
    pub settled_at: Option<Timestamp>,
}

/// The commands of an export, oldest first.
///
/// # Errors
/// [`StoreError`].
pub async fn commands(db: &impl GenericClient, export_id: &ExportId) -> Result<Vec<CommandStep>, StoreError> {
    let rows = db.query(include_str!("timeline/commands.sql"), &[&export_id.as_str()]).await?;
    rows.iter()
        .map(|row| {
            Ok(CommandStep {
                command_id: row.try_get("command_id")?,
                reason: row.try_get("reason")?,
                created_at: row.try_get("created_at")?,
                acknowledged_at: row.try_get("acknowledged_at")?,
            })
        })
        .collect()
}

/// The facts of an export, by version.
///
/// # Errors
/// [`StoreError`].
pub async fn facts(db: &impl GenericClient, export_id: &ExportId) -> Result<Vec<FactStep>, StoreError> {
    let rows = db.query(include_str!("timeline/facts.sql"), &[&export_id.as_str()]).await?;
    rows.iter()
        .map(|row| {
            Ok(FactStep {
                version: row.try_get("version")?,
                event_id: row.try_get("event_id")?,
                event_type: row.try_get("event_type")?,
                created_at: row.try_get("created_at")?,
                acknowledged_at: row.try_get("acknowledged_at")?,
            })
        })
        .collect()
}

/// The attempts of an export, by fence.
///
/// # Errors
/// [`StoreError`].
pub async fn attempts(db: &impl GenericClient, export_id: &ExportId) -> Result<Vec<AttemptStep>, StoreError> {
    let rows = db.query(include_str!("timeline/attempts.sql"), &[&export_id.as_str()]).await?;
    rows.iter()
        .map(|row| {
            let candidate_id: Option<String> = row.try_get("candidate_id")?;
            let candidate = match candidate_id {
                Some(candidate_id) => Some(CandidateStep {
                    candidate_id,
                    rows: row.try_get("rows")?,
                    bytes: row.try_get("bytes")?,
                    verified_at: row.try_get("verified_at")?,
                }),
                None => None,
            };
            Ok(AttemptStep {
                number: row.try_get("number")?,
                fence: row.try_get("fence")?,
                worker: row.try_get("worker")?,
                state: decode("attempts.state", row.try_get("state")?, |text| {
                    AttemptState::parse(text).ok_or("not a state")
                })?,
                claimed_at: row.try_get("claimed_at")?,
                ended_at: row.try_get("ended_at")?,
                rows_done: row.try_get("rows_done")?,
                bytes_done: row.try_get("bytes_done")?,
                error_code: row.try_get("error_code")?,
                error_detail: row.try_get("error_detail")?,
                candidate,
            })
        })
        .collect()
}

/// What search holds of an export, if anything.
///
/// # Errors
/// [`StoreError`].
pub async fn search(
    db: &impl GenericClient,
    tenant_id: &TenantId,
    export_id: &ExportId,
) -> Result<Option<SearchStep>, StoreError> {
    let row = db
        .query_opt(include_str!("timeline/search.sql"), &[&export_id.as_str(), &tenant_id.as_str()])
        .await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(SearchStep {
        version: row.try_get("version")?,
        event_id: row.try_get("event_id")?,
        applied_at: row.try_get("applied_at")?,
    }))
}

/// When stats counted a fact, if it has. `group_prefix` is the deployment's prefix of consumer groups.
///
/// # Errors
/// [`StoreError`].
pub async fn stats(
    db: &impl GenericClient,
    group_prefix: &str,
    source: &str,
    event_id: &str,
) -> Result<Option<Timestamp>, StoreError> {
    let row = db.query_opt(include_str!("timeline/stats.sql"), &[&group_prefix, &source, &event_id]).await?;
    row.map(|row| row.try_get("applied_at")).transpose().map_err(StoreError::from)
}

/// Who is told about an export, oldest first.
///
/// # Errors
/// [`StoreError`].
pub async fn notifications(
    db: &impl GenericClient,
    tenant_id: &TenantId,
    export_id: &ExportId,
) -> Result<Vec<NotificationStep>, StoreError> {
    let rows = db
        .query(include_str!("timeline/notifications.sql"), &[&export_id.as_str(), &tenant_id.as_str()])
        .await?;
    rows.iter()
        .map(|row| {
            Ok(NotificationStep {
                notification_id: row.try_get("notification_id")?,
                event_id: row.try_get("event_id")?,
                channel: row.try_get("channel")?,
                target: row.try_get("target")?,
                kind: row.try_get("kind")?,
                state: row.try_get("state")?,
                attempts: row.try_get("attempts")?,
                created_at: row.try_get("created_at")?,
                last_attempt_at: row.try_get("last_attempt_at")?,
                settled_at: row.try_get("settled_at")?,
            })
        })
        .collect()
}
