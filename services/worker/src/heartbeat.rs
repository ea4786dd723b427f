//! Keeps an attempt's lease alive while its file is made.

use tokio::time::{Instant, MissedTickBehavior};
use waybill_store::attempt;

use crate::Worker;
use crate::attempt_error::AttemptError;
use crate::candidate_file::Meter;
use crate::claiming::Claimed;
use crate::database::DatabaseError;
use crate::metrics;

/// Renews the lease at every heartbeat and returns only with the reason to stop: the job is somebody else's, or this
/// worker can no longer know that it is not.
pub(crate) async fn keep(worker: &Worker, claimed: &Claimed, meter: &Meter) -> AttemptError {
    let mut beats = tokio::time::interval_at(Instant::now() + worker.heartbeat, worker.heartbeat);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let held_until = claimed.lease.held_until();
        if tokio::time::timeout_at(held_until, beats.tick()).await.is_err() {
            return AttemptError::LeaseLost;
        }
        let asked_at = Instant::now();
        match tokio::time::timeout_at(held_until, beat(worker, claimed, meter)).await {
            Ok(Ok(true)) => {
                claimed.lease.renewed(asked_at, worker.lease);
                metrics::lease_renewed();
            }
            // Whether it is fenced besides is seen when the end is recorded.
            Ok(Ok(false)) => return AttemptError::LeaseLost,
            Ok(Err(error)) => tracing::warn!(
                export_id = %claimed.job.export_id,
                fence = claimed.fence(),
                error = &error as &(dyn std::error::Error + 'static),
                remaining_ms = claimed.lease.remaining().as_millis(),
                "the lease could not be renewed"
            ),
            Err(_elapsed) => return AttemptError::LeaseLost,
        }
    }
}

async fn beat(worker: &Worker, claimed: &Claimed, meter: &Meter) -> Result<bool, DatabaseError> {
    let client = worker.export.get().await?;
    let lease_ms = i64::try_from(worker.lease.as_millis()).unwrap_or(i64::MAX);
    let progress = meter.read();
    Ok(attempt::heartbeat(&**client, &claimed.job.export_id, claimed.fence(), lease_ms, progress).await?)
}
