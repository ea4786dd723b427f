//! Exports whose result's time is over.
//!
//! Deliberately absent: deciding, which is `waybill_domain::job::decide`, and the file, which is the collector's.

use jiff::Timestamp;
use tokio_postgres::GenericClient;
use waybill_domain::job::Decision;

use crate::StoreError;
use crate::job::Job;

/// An export whose result's time is over, its row locked, and the time at which that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Due {
    /// The export as it stands under the lock.
    pub job: Job,
    /// The database's time.
    pub now: Timestamp,
}

/// Locks the exports whose result's time is over, those of longest ago first, `jobs_max` at the most.
///
/// # Errors
/// Postgres refused, or a row could not be decoded.
pub async fn due(tx: &impl GenericClient, jobs_max: i64) -> Result<Vec<Due>, StoreError> {
    let rows = tx.query(include_str!("expiry/due.sql"), &[&jobs_max]).await?;
    rows.iter().map(|row| Ok(Due { job: Job::from_row(row)?, now: row.try_get("database_now")? })).collect()
}

/// Stores the decided expiry of an export. `None`: it is no longer what was decided upon, nothing was changed.
///
/// # Errors
/// Postgres refused, or the row could not be decoded.
pub async fn store(
    tx: &impl GenericClient,
    before: &Job,
    decision: &Decision,
) -> Result<Option<Job>, StoreError> {
    let (lifecycle, next) = (&before.lifecycle, &decision.next);
    let row = tx
        .query_opt(
            include_str!("expiry/store.sql"),
            &[
                &before.export_id.as_str(),
                &lifecycle.state.as_str(),
                &lifecycle.version,
                &next.state.as_str(),
                &next.version,
            ],
        )
        .await?;
    row.as_ref().map(Job::from_row).transpose()
}
