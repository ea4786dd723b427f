//! What the collector reads and writes: candidates, with all that the rows say about whether they are needed.
//!
//! Deliberately absent: judging, which is `waybill_domain::candidate::judge`, and any object.

use jiff::Timestamp;
use tokio_postgres::types::Type;
use tokio_postgres::{GenericClient, Row};
use waybill_domain::attempt::AttemptState;
use waybill_domain::candidate::{CandidateState, Cause, Standing};
use waybill_domain::ids::{CandidateId, ExportId, TenantId};
use waybill_domain::job::JobState;

use crate::StoreError;
use crate::job::{Parameter, decode};

/// A candidate beside its attempt and its export, in one snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The candidate.
    pub candidate_id: CandidateId,
    /// The export that it was written for.
    pub export_id: ExportId,
    /// Whose export that is.
    pub tenant_id: TenantId,
    /// Where its object lies.
    pub object_key: String,
    /// The store's name for its upload in parts.
    pub upload_id: Option<String>,
    /// The size that was verified, where one was.
    pub bytes: Option<i64>,
    /// All that a judgement is made of.
    pub standing: Standing,
    /// Why it was condemned, where it was.
    pub condemned_because: Option<Cause>,
    /// When its object went.
    pub deleted_at: Option<Timestamp>,
    /// The database's time at which all of it was so.
    pub now: Timestamp,
}

impl Found {
    fn from_row(row: &Row) -> Result<Self, StoreError> {
        let because: Option<&str> = row.try_get("condemned_because")?;
        let parsed =
            |text| decode("candidates.condemned_because", text, |text| Cause::parse(text).ok_or("no cause"));
        Ok(Self {
            candidate_id: decode(
                "candidates.candidate_id",
                row.try_get("candidate_id")?,
                CandidateId::parse,
            )?,
            export_id: decode("candidates.export_id", row.try_get("export_id")?, ExportId::parse)?,
            tenant_id: decode("jobs.tenant_id", row.try_get("tenant_id")?, TenantId::parse)?,
            object_key: row.try_get("object_key")?,
            upload_id: row.try_get("upload_id")?,
            bytes: row.try_get("bytes")?,
            standing: standing(row)?,
            condemned_because: because.map(parsed).transpose()?,
            deleted_at: row.try_get("deleted_at")?,
            now: row.try_get("database_now")?,
        })
    }
}

fn standing(row: &Row) -> Result<Standing, StoreError> {
    const UNKNOWN: &str = "not a state";
    let state = |text| decode("candidates.state", text, |text| CandidateState::parse(text).ok_or(UNKNOWN));
    let attempt = |text| decode("attempts.state", text, |text| AttemptState::parse(text).ok_or(UNKNOWN));
    let job = |text| decode("jobs.state", text, |text| JobState::parse(text).ok_or(UNKNOWN));
    Ok(Standing {
        state: state(row.try_get("state")?)?,
        created_at: row.try_get("created_at")?,
        condemned_at: row.try_get("condemned_at")?,
        attempt: attempt(row.try_get("attempt_state")?)?,
        fence: row.try_get("fence")?,
        job: job(row.try_get("job_state")?)?,
        job_fence: row.try_get("job_fence")?,
        is_result: row.try_get("is_result")?,
    })
}

/// Locks candidates that were never selected, whose attempt is over or fenced, and which are older than so many
/// milliseconds; the oldest first, `candidates_max` at the most.
///
/// # Errors
/// Postgres refused, or a row could not be decoded.
pub async fn unneeded(
    tx: &impl GenericClient,
    older_than_ms: i64,
    candidates_max: i64,
) -> Result<Vec<Found>, StoreError> {
    let parameters: [Parameter<'_>; 2] = [(&older_than_ms, Type::INT8), (&candidates_max, Type::INT8)];
    let rows = tx.query_typed(include_str!("collection/unneeded.sql"), &parameters).await?;
    rows.iter().map(Found::from_row).collect()
}

/// Condemned candidates as they stand now, in the order in which they were condemned, after this one; only those
/// condemned for so many milliseconds, `candidates_max` at the most.
///
/// # Errors
/// Postgres refused, or a row could not be decoded.
pub async fn condemned(
    db: &impl GenericClient,
    condemned_for_ms: i64,
    after: Option<&Found>,
    candidates_max: i64,
) -> Result<Vec<Found>, StoreError> {
    let after_at = after.and_then(|found| found.standing.condemned_at).unwrap_or(Timestamp::UNIX_EPOCH);
    let after_id = after.map_or("", |found| found.candidate_id.as_str());
    let parameters: [Parameter<'_>; 4] = [
        (&condemned_for_ms, Type::INT8),
        (&after_at, Type::TIMESTAMPTZ),
        (&after_id, Type::TEXT),
        (&candidates_max, Type::INT8),
    ];
    let rows = db.query_typed(include_str!("collection/condemned.sql"), &parameters).await?;
    rows.iter().map(Found::from_row).collect()
}

/// Records that a condemned candidate's object is gone. `false`: somebody did so before, nothing was changed.
///
/// # Errors
/// Postgres refused the statement.
pub async fn record_deleted(db: &impl GenericClient, candidate_id: &CandidateId) -> Result<bool, StoreError> {
    let statement = include_str!("collection/record_deleted.sql");
    Ok(db.execute(statement, &[&candidate_id.as_str()]).await? == 1)
}

/// Which candidates are wanted of [`list`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// Only those in this state.
    pub state: Option<CandidateState>,
    /// Only those of this export.
    pub export_id: Option<&'a ExportId>,
}

/// At most `limit` candidates, in the order of their ids, which is that of their making, after this one.
///
/// # Errors
/// Postgres refused, or a row could not be decoded.
pub async fn list(
    db: &impl GenericClient,
    wanted: Wanted<'_>,
    after: Option<&CandidateId>,
    limit: i64,
) -> Result<Vec<Found>, StoreError> {
    let after = after.map_or("", CandidateId::as_str);
    let (state, export_id) =
        (wanted.state.map(CandidateState::as_str), wanted.export_id.map(ExportId::as_str));
    let parameters: [Parameter<'_>; 4] =
        [(&after, Type::TEXT), (&state, Type::TEXT), (&export_id, Type::TEXT), (&limit, Type::INT8)];
    let rows = db.query_typed(include_str!("collection/list.sql"), &parameters).await?;
    rows.iter().map(Found::from_row).collect()
}

/// The states of the candidates whose objects have these keys; a key that is not answered is one that no row knows.
///
/// # Errors
/// Postgres refused, or a row could not be decoded.
pub async fn known(
    db: &impl GenericClient,
    object_keys: &[&str],
) -> Result<Vec<(String, CandidateState)>, StoreError> {
    let rows =
        db.query_typed(include_str!("collection/known.sql"), &[(&object_keys, Type::TEXT_ARRAY)]).await?;
    rows.iter()
        .map(|row| {
            let state = decode("candidates.state", row.try_get("state")?, |text| {
                CandidateState::parse(text).ok_or("not a state")
            })?;
            Ok((row.try_get("object_key")?, state))
        })
        .collect()
}
