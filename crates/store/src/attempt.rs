//! Attempts: one try by one worker, numbered by its fence.
//!
//! Deliberately absent: any write that does not name the fence.

use tokio_postgres::GenericClient;
use waybill_domain::attempt::AttemptState;
use waybill_domain::ids::ExportId;

use crate::StoreError;

/// How far an attempt has come, as its worker reports it with each heartbeat.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Records written to the candidate so far.
    pub rows_done: i64,
    /// Records that the planner expects; unknown until it was asked.
    pub rows_estimated: Option<i64>,
    /// Bytes of the candidate that were handed to the object store so far.
    pub bytes_done: i64,
}

/// Why an attempt ended without a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cause<'a> {
    /// A code of `docs/errors`.
    pub code: &'a str,
    /// The cause in words, without any value from the data set.
    pub detail: &'a str,
}

/// Records that a worker has just taken a job under `fence`, in the transaction of the claim.
///
/// # Errors
/// Postgres refused, or there is an attempt with this fence already.
pub async fn begin(
    db: &impl GenericClient,
    export_id: &ExportId,
    fence: i64,
    worker: &str,
) -> Result<(), StoreError> {
    db.execute(include_str!("attempt/begin.sql"), &[&export_id.as_str(), &fence, &worker]).await?;
    Ok(())
}

/// Renews the lease of the job that this attempt holds and records its progress. `false`: fenced, or the lease is over;
/// nothing changed.
///
/// # Errors
/// Postgres refused the statement.
pub async fn heartbeat(
    db: &impl GenericClient,
    export_id: &ExportId,
    fence: i64,
    lease_ms: i64,
    progress: Progress,
) -> Result<bool, StoreError> {
    let changed = db
        .execute(
            include_str!("attempt/heartbeat.sql"),
            &[
                &export_id.as_str(),
                &fence,
                &lease_ms,
                &progress.rows_done,
                &progress.rows_estimated,
                &progress.bytes_done,
            ],
        )
        .await?;
    Ok(changed == 1)
}

/// Ends an attempt. `false`: it was over already (or may not end so), nothing changed.
///
/// # Errors
/// Postgres refused the statement.
pub async fn end(
    db: &impl GenericClient,
    export_id: &ExportId,
    fence: i64,
    state: AttemptState,
    cause: Option<Cause<'_>>,
) -> Result<bool, StoreError> {
    let from: Vec<&str> =
        AttemptState::ALL.iter().filter(|from| from.may_become(state)).map(|from| from.as_str()).collect();
    let changed = db
        .execute(
            include_str!("attempt/end.sql"),
            &[
                &export_id.as_str(),
                &fence,
                &state.as_str(),
                &from,
                &cause.map(|cause| cause.code),
                &cause.map(|cause| cause.detail),
            ],
        )
        .await?;
    Ok(changed == 1)
}

/// Records the last progress of an attempt that is about to end. `false`: it is over, nothing changed.
///
/// # Errors
/// Postgres refused the statement.
pub async fn progress(
    db: &impl GenericClient,
    export_id: &ExportId,
    fence: i64,
    progress: Progress,
) -> Result<bool, StoreError> {
    let changed = db
        .execute(
            include_str!("attempt/progress.sql"),
            &[
                &export_id.as_str(),
                &fence,
                &progress.rows_done,
                &progress.rows_estimated,
                &progress.bytes_done,
            ],
        )
        .await?;
    Ok(changed == 1)
}

/// Where an attempt stands and whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Its state.
    pub state: AttemptState,
    /// The worker that claimed under this fence.
    pub worker: String,
}

/// Reads an attempt back by its key. `None`: no claim under this fence was ever committed.
///
/// # Errors
/// Postgres refused, or the row could not be decoded.
pub async fn standing(
    db: &impl GenericClient,
    export_id: &ExportId,
    fence: i64,
) -> Result<Option<Standing>, StoreError> {
    let row = db.query_opt(include_str!("attempt/standing.sql"), &[&export_id.as_str(), &fence]).await?;
    let Some(row) = row else { return Ok(None) };
    let state: &str = row.try_get("state")?;
    let state = AttemptState::parse(state)
        .ok_or_else(|| StoreError::Decode { column: "attempts.state", detail: state.to_owned() })?;
    Ok(Some(Standing { state, worker: row.try_get("worker")? }))
}
