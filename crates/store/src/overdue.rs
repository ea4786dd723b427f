//! Jobs that nothing has moved in time.

use jiff::Timestamp;
use tokio_postgres::GenericClient;
use waybill_domain::ids::{ExportId, TenantId};

use crate::StoreError;
use crate::job::decode;

/// A job whose command is due to be written again; its row is locked and its next reminder already set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overdue {
    /// The job.
    pub export_id: ExportId,
    /// Its tenant.
    pub tenant_id: TenantId,
    /// The database's time.
    pub now: Timestamp,
}

/// How a batch of overdue jobs is taken.
#[derive(Debug, Clone, Copy)]
pub struct Reminders {
    /// The most jobs of one batch.
    pub jobs_max: i64,
    /// How long past its due time or lease a job is first reminded of, and the shortest time between two reminders, in
    /// milliseconds.
    pub remind_after_ms: i64,
    /// The longest time between two reminders of a job, in milliseconds. Not below [`Self::remind_after_ms`].
    pub remind_after_max_ms: i64,
}

/// Takes the jobs that nothing has moved since their due time, their lease or their last reminder, for as long as
/// `reminders` says, oldest first, and sets the next reminder: as far ahead as the job is overdue by now, within the bounds.
/// So a job that waits behind its tenant's limit for an hour is reminded of a dozen times and not two hundred.
///
/// # Errors
/// Postgres refused, or a row could not be decoded.
pub async fn take(db: &impl GenericClient, reminders: &Reminders) -> Result<Vec<Overdue>, StoreError> {
    let rows = db
        .query(
            include_str!("overdue/take.sql"),
            &[&reminders.jobs_max, &reminders.remind_after_ms, &reminders.remind_after_max_ms],
        )
        .await?;
    rows.iter()
        .map(|row| {
            Ok(Overdue {
                export_id: decode("jobs.export_id", row.try_get("export_id")?, ExportId::parse)?,
                tenant_id: decode("jobs.tenant_id", row.try_get("tenant_id")?, TenantId::parse)?,
                now: row.try_get("database_now")?,
            })
        })
        .collect()
}
