//! Collects files that nobody needs: marks, waits, looks again, deletes.
//!
//! It works from candidates' rows alone. What `waybill_domain::candidate::judge` says decides, and the same judgement
//! explains each candidate to whoever asks. Deliberately absent: any deletion because of an object's age, its name or its
//! absence from a row: an object that no row knows is counted and shown, and stays.

use deadpool_postgres::Pool;
use jiff::SignedDuration;
use object_store::path::Path;
use tokio_util::sync::CancellationToken;
use waybill_domain::candidate::{Patience, Reason, Verdict, judge};
use waybill_domain::limits::{ATTEMPT_HOURS_MAX, LINK_MINUTES_MAX};
use waybill_fault_points::{Point, reach};
use waybill_objects::{Objects, REQUEST_SECONDS_MAX};
use waybill_runtime::config::{COLLECT_AFTER_HOURS_MIN, CONDEMNED_FOR_MINUTES_MIN};
use waybill_store::candidate;
use waybill_store::collection::{self, Found};

use crate::error::RoundError;
use crate::metrics;

/// How many candidates one transaction condemns, and one read of the condemned ones gives.
const BATCH_CANDIDATES_MAX: i64 = 200;

const SECONDS_OF_AN_HOUR: u64 = 60 * 60;

// The configuration allows no shorter waits than these, which are past everything that could still write or read a file.
const _: () =
    assert!((COLLECT_AFTER_HOURS_MIN - ATTEMPT_HOURS_MAX) * SECONDS_OF_AN_HOUR > REQUEST_SECONDS_MAX);
const _: () = assert!(CONDEMNED_FOR_MINUTES_MIN >= 2 * LINK_MINUTES_MAX);

/// After so many failures of the object store one after the other a round gives up: the store is away. A single object that
/// it will not let go hides nothing behind it.
const FAILURES_IN_A_ROW_MAX: usize = 5;

/// What one round did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Collected {
    /// Candidates that were condemned.
    pub condemned: usize,
    /// Candidates whose objects and unended uploads were deleted.
    pub deleted: usize,
    /// Candidates that are condemned though their rows say that they are needed. They stay.
    pub contradictions: usize,
}

/// One round: condemns what is not needed and old enough, then deletes what was condemned long enough ago and is still not
/// needed. Any number of them may run side by side.
///
/// # Errors
/// The last failure. What was done before and behind it stands, and the next round looks at all again.
pub async fn collect(
    pool: &Pool,
    objects: &Objects,
    patience: Patience,
    shutdown: &CancellationToken,
) -> Result<Collected, RoundError> {
    let condemned = condemn(pool, patience, shutdown).await?;
    let (deleted, contradictions) = delete(pool, objects, patience, shutdown).await?;
    Ok(Collected { condemned, deleted, contradictions })
}

async fn condemn(pool: &Pool, patience: Patience, shutdown: &CancellationToken) -> Result<usize, RoundError> {
    let mut condemned = 0;
    loop {
        let mut client = pool.get().await?;
        let tx = client.transaction().await?;
        let found =
            collection::unneeded(&*tx, milliseconds(patience.collect_after), BATCH_CANDIDATES_MAX).await?;
        let mut marked = 0;
        for found in &found {
            let Verdict::Condemn(cause) = judge(&found.standing, patience, found.now) else { continue };
            if candidate::condemn(&*tx, &found.candidate_id, cause).await? {
                marked += 1;
                tracing::info!(
                    candidate_id = %found.candidate_id,
                    export_id = %found.export_id,
                    cause = cause.as_str(),
                    "condemned"
                );
            }
        }
        tx.commit().await?;
        metrics::condemned(marked);
        condemned += marked;
        let is_last = i64::try_from(found.len()).unwrap_or(i64::MAX) < BATCH_CANDIDATES_MAX;
        if is_last || marked == 0 || shutdown.is_cancelled() {
            return Ok(condemned);
        }
    }
}

async fn delete(
    pool: &Pool,
    objects: &Objects,
    patience: Patience,
    shutdown: &CancellationToken,
) -> Result<(usize, usize), RoundError> {
    let (mut deleted, mut contradictions) = (0, 0);
    let (mut failures_in_a_row, mut failure) = (0, None);
    let mut after: Option<Found> = None;
    loop {
        let condemned_for_ms = milliseconds(patience.condemned_for);
        let page = {
            let client = pool.get().await?;
            collection::condemned(&**client, condemned_for_ms, after.as_ref(), BATCH_CANDIDATES_MAX).await?
        };
        for found in &page {
            // What was true when it was condemned is looked at once more.
            match judge(&found.standing, patience, found.now) {
                Verdict::Delete(_) => match remove(pool, objects, found).await {
                    Ok(()) => (deleted, failures_in_a_row) = (deleted + 1, 0),
                    Err(error @ RoundError::Objects(_)) if failures_in_a_row + 1 < FAILURES_IN_A_ROW_MAX => {
                        (failures_in_a_row, failure) = (failures_in_a_row + 1, Some(error));
                    }
                    Err(error) => return Err(error),
                },
                Verdict::Keep(Reason::Contradiction) => contradictions += 1,
                Verdict::Keep(_) | Verdict::Condemn(_) | Verdict::Gone => {}
            }
            if shutdown.is_cancelled() {
                return Ok((deleted, contradictions));
            }
        }
        let is_last = i64::try_from(page.len()).unwrap_or(i64::MAX) < BATCH_CANDIDATES_MAX;
        after = page.into_iter().next_back();
        if is_last {
            metrics::contradictions(contradictions);
            return failure.map_or(Ok((deleted, contradictions)), Err);
        }
    }
}

/// The upload first, so that nothing can complete into the place that the object is removed from; then the object; then the
/// row. A repetition, or another reconciler beside this one, finds each of them gone.
async fn remove(pool: &Pool, objects: &Objects, found: &Found) -> Result<(), RoundError> {
    let path = Path::parse(&found.object_key).map_err(object_store::Error::from)?;
    objects.abort(&path, found.upload_id.as_deref()).await?;
    objects.remove(&path).await?;
    reach(Point::CollectorRemoved);
    let client = pool.get().await?;
    if collection::record_deleted(&**client, &found.candidate_id).await? {
        metrics::deleted(found.bytes);
        tracing::info!(
            candidate_id = %found.candidate_id,
            export_id = %found.export_id,
            object.key = found.object_key,
            cause = found.condemned_because.map(waybill_domain::candidate::Cause::as_str),
            "deleted"
        );
    }
    Ok(())
}

fn milliseconds(duration: SignedDuration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
