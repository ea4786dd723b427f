//! Writes the command again of every job that nothing has moved in time.
//!
//! A reminder never touches `due_at` or the lease, so it can neither delay nor hasten a claim: it is the same wake-up
//! that the job's acceptance sent, in case that one was lost.

use deadpool_postgres::Pool;
use tokio_util::sync::CancellationToken;
use waybill_contract::CommandReason;
use waybill_publication::Publisher;
use waybill_store::overdue::{self, Reminders};

use crate::error::RoundError;
use crate::metrics;

/// The most batches of one round; what is left is found by the next.
const BATCHES_MAX: usize = 20;

/// Reminds of overdue jobs, batch by batch, each in a transaction of its own, until none is left or the round has done
/// its share. Answers how many commands were written.
///
/// # Errors
/// A batch was rolled back; what earlier ones wrote stands.
pub async fn remind(
    pool: &Pool,
    publisher: &Publisher,
    reminders: &Reminders,
    shutdown: &CancellationToken,
) -> Result<usize, RoundError> {
    let batch_full = usize::try_from(reminders.jobs_max).unwrap_or(usize::MAX);
    let mut written = 0;
    for _ in 0..BATCHES_MAX {
        let jobs = batch(pool, publisher, reminders).await?;
        written += jobs;
        if jobs < batch_full || shutdown.is_cancelled() {
            break;
        }
    }
    Ok(written)
}

async fn batch(pool: &Pool, publisher: &Publisher, reminders: &Reminders) -> Result<usize, RoundError> {
    let mut client = pool.get().await?;
    let tx = client.transaction().await?;
    let jobs = overdue::take(&*tx, reminders).await?;
    if jobs.is_empty() {
        return Ok(0);
    }
    metrics::overdue(jobs.len());
    for job in &jobs {
        let reason = CommandReason::Overdue;
        let command_id = publisher.command(&*tx, &job.export_id, &job.tenant_id, reason, job.now).await?;
        tracing::debug!(export_id = %job.export_id, command_id, "reminded");
    }
    tx.commit().await?;
    metrics::commands(jobs.len());
    if let Err(error) = waybill_outbox::wake(&client).await {
        // A hint only: the relay's poll finds the rows without it.
        tracing::debug!(%error, "the relay was not woken");
    }
    Ok(jobs.len())
}
