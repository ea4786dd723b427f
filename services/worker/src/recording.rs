//! Records what an attempt has made, through an outage of the database of exports.
//!
//! Behind each record stand hours of work, and a restart of Postgres takes seconds. So a step is repeated while the
//! lease is known to last; its fence, not this clock, is what makes a late one harmless. That an attempt failed is told
//! long after its lease, too: unless somebody took the job over, the database then knows that its worker never died.
//! Deliberately absent: a deadline that breaks a step off, because a COMMIT under way must be waited for, and a check of
//! the lease before the first try, because only the database knows who holds the job.

use std::time::Duration;

use tokio::time::Instant;

use crate::claiming::Claimed;
use crate::codes;
use crate::database::DatabaseError;

/// How often a step is tried whatever the error and whatever is left of the lease.
const TRIES_MIN: u32 = 5;

/// The wait before the second try; it doubles with each further one.
const BACKOFF_FIRST_MS: u64 = 200;

/// How long a failure is told after the database went away: as long as most outages. The attempt's slot waits with it, which
/// costs nothing while nothing can be claimed.
const TOLD_SECONDS_MAX: u64 = 600;

/// Where the wait stops growing: short, so that a database that is back is used before the lease is over.
const BACKOFF_MAX_MS: u64 = 2_000;

/// Repeats `step` until it answers. Each must be one transaction that recognises itself when it was committed before
/// and only its answer was lost.
///
/// # Errors
/// The last one: of an outage, when the lease is over and [`TRIES_MIN`] tries failed; any other after [`TRIES_MIN`].
pub(crate) async fn record<T, F>(
    claimed: &Claimed,
    what: &'static str,
    step: impl FnMut() -> F,
) -> Result<T, DatabaseError>
where
    F: Future<Output = Result<T, DatabaseError>>,
{
    until(claimed.lease.held_until(), claimed, what, step).await
}

/// The same for the failure of the attempt, of which there is more to tell than to lose.
///
/// # Errors
/// The last one: of an outage, [`TOLD_SECONDS_MAX`] after the first try; any other after [`TRIES_MIN`].
pub(crate) async fn tell<T, F>(
    claimed: &Claimed,
    what: &'static str,
    step: impl FnMut() -> F,
) -> Result<T, DatabaseError>
where
    F: Future<Output = Result<T, DatabaseError>>,
{
    let told_until = Instant::now() + Duration::from_secs(TOLD_SECONDS_MAX);
    until(told_until.max(claimed.lease.held_until()), claimed, what, step).await
}

async fn until<T, F>(
    deadline: Instant,
    claimed: &Claimed,
    what: &'static str,
    mut step: impl FnMut() -> F,
) -> Result<T, DatabaseError>
where
    F: Future<Output = Result<T, DatabaseError>>,
{
    let mut wait = Duration::from_millis(BACKOFF_FIRST_MS);
    let mut tried = 0;
    loop {
        let error = match step().await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        tried += 1;
        let in_time = Instant::now() + wait < deadline;
        if tried >= TRIES_MIN && !(in_time && error.is_passing()) {
            return Err(error);
        }
        tracing::warn!(
            export_id = %claimed.job.export_id,
            fence = claimed.fence(),
            what,
            tried,
            remaining_ms = claimed.lease.remaining().as_millis(),
            error = &error as &(dyn std::error::Error + 'static),
            error.code = codes::EXPORT_DATABASE_UNAVAILABLE,
            "could not be recorded, trying again"
        );
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(Duration::from_millis(BACKOFF_MAX_MS));
    }
}
