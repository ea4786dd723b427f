//! One attempt, from its claim to its end.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use tokio_util::sync::CancellationToken;
use waybill_domain::attempt::AttemptState;
use waybill_domain::limits::ATTEMPT_HOURS_MAX;
use waybill_fault_points::{Point, reach};
use waybill_store::attempt;
use waybill_store::candidate::Candidate;

use crate::attempt_error::{AttemptError, Verdict};
use crate::candidate_file::{self, Meter};
use crate::claiming::Claimed;
use crate::database::DatabaseError;
use crate::metrics::{self, Outcome};
use crate::settling::{self, Settled};
use crate::{Worker, codes, heartbeat};

const ATTEMPT_MAX: Duration = Duration::from_secs(ATTEMPT_HOURS_MAX * 60 * 60);

/// Makes the file under a heartbeat, then completes or fails the job; `abandon` ends it early, for another worker to
/// take. Never an error: what could not be recorded is found by the lease.
pub async fn execute(worker: &Worker, claimed: &Claimed, abandon: &CancellationToken) -> Outcome {
    let meter = Meter::new();
    let made = tokio::select! {
        made = alive(candidate_file::make(worker, claimed, &meter)) => made,
        reason = heartbeat::keep(worker, claimed, &meter) => Err(reason),
        () = abandon.cancelled() => Err(AttemptError::Stopped),
        () = tokio::time::sleep(ATTEMPT_MAX) => Err(AttemptError::DeadlineExceeded),
    };
    let settled = match made {
        Ok(candidate) => finish(worker, claimed, &candidate, &meter).await,
        Err(error) => give_up(worker, claimed, &error, &meter).await,
    };
    let outcome = settled.unwrap_or_else(|error| {
        tracing::error!(
            export_id = %claimed.job.export_id,
            fence = claimed.fence(),
            error = &error as &(dyn std::error::Error + 'static),
            error.code = codes::EXPORT_DATABASE_UNAVAILABLE,
            "the end of the attempt could not be recorded: its lease will run out"
        );
        Outcome::Unrecorded
    });
    metrics::ended(outcome);
    outcome
}

/// A panic is an error of this attempt, which says so, and not a worker that died without a word. What was made goes with
/// the future that made it.
async fn alive<T>(work: impl Future<Output = Result<T, AttemptError>>) -> Result<T, AttemptError> {
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or(Err(AttemptError::Panicked))
}

async fn finish(
    worker: &Worker,
    claimed: &Claimed,
    candidate: &Candidate,
    meter: &Meter,
) -> Result<Outcome, DatabaseError> {
    reach(Point::WorkerVerified);
    match settling::complete(worker, claimed, candidate, meter.read()).await? {
        Settled::Recorded(job) => {
            tracing::info!(
                export_id = %job.export_id,
                fence = claimed.fence(),
                candidate_id = %candidate.candidate_id,
                rows = candidate.rows,
                bytes = candidate.bytes,
                "succeeded"
            );
            Ok(Outcome::Succeeded)
        }
        Settled::Fenced(rejection) => {
            tracing::warn!(
                export_id = %claimed.job.export_id,
                fence = claimed.fence(),
                candidate_id = %candidate.candidate_id,
                %rejection,
                error.code = codes::ATTEMPT_FENCED,
                "fenced: the candidate is left to the collector"
            );
            Ok(Outcome::Fenced)
        }
    }
}

async fn give_up(
    worker: &Worker,
    claimed: &Claimed,
    error: &AttemptError,
    meter: &Meter,
) -> Result<Outcome, DatabaseError> {
    let treatment = error.kind().treatment();
    let settled = match treatment.verdict {
        Verdict::Transient(_) | Verdict::Permanent | Verdict::HandBack => {
            settling::fail(worker, claimed, error, meter.read()).await?
        }
        Verdict::Fenced => {
            let client = worker.export.get().await?;
            attempt::end(&**client, &claimed.job.export_id, claimed.fence(), AttemptState::Fenced, None)
                .await?;
            tracing::warn!(
                export_id = %claimed.job.export_id,
                fence = claimed.fence(),
                error.code = treatment.code,
                "fenced: stopped in the middle of the work"
            );
            return Ok(Outcome::Fenced);
        }
    };
    match settled {
        Settled::Recorded(job) => {
            tracing::warn!(
                export_id = %job.export_id,
                fence = claimed.fence(),
                state = job.lifecycle.state.as_str(),
                transient_failures = job.lifecycle.transient_failures,
                work_failures = job.lifecycle.work_failures,
                due_at = job.lifecycle.due_at.map(tracing::field::display),
                error = %error.detail(),
                error.code = treatment.code,
                hint = treatment.hint,
                "the attempt failed"
            );
            Ok(if treatment.verdict == Verdict::Permanent {
                Outcome::Failed
            } else {
                Outcome::FailedTransiently
            })
        }
        Settled::Fenced(rejection) => {
            tracing::warn!(
                export_id = %claimed.job.export_id,
                fence = claimed.fence(),
                %rejection,
                error.code = codes::ATTEMPT_FENCED,
                "fenced: stopped in the middle of the work"
            );
            Ok(Outcome::Fenced)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::off_thread;

    #[tokio::test]
    async fn a_panic_on_whichever_thread_ends_the_attempt_alone_and_is_told() {
        let here = alive::<()>(async { panic!("a fault of ours") }).await;
        let elsewhere = alive::<()>(off_thread::run(|| panic!("a fault of ours"))).await;
        for ended in [here, elsewhere] {
            assert!(matches!(ended, Err(AttemptError::Panicked)), "{ended:?}");
        }
    }
}
