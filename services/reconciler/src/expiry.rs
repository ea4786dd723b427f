//! Ends the time of results: the row stays, the fact goes out, the file goes to the collector.

use deadpool_postgres::{Pool, Transaction};
use tokio_util::sync::CancellationToken;
use waybill_domain::candidate::Cause;
use waybill_domain::job::{Command, decide};
use waybill_publication::Publisher;
use waybill_store::candidate;
use waybill_store::expiry::{self, Due};

use crate::error::RoundError;
use crate::metrics;

/// Expires every export whose result's time is over, in transactions of `jobs_max` exports, and answers how many. A COMMIT
/// without an answer needs none: the next round reads what became of it.
///
/// # Errors
/// What was committed before stands.
pub async fn expire(
    pool: &Pool,
    publisher: &Publisher,
    jobs_max: i64,
    shutdown: &CancellationToken,
) -> Result<usize, RoundError> {
    let mut expired = 0;
    loop {
        let of_batch = batch(pool, publisher, jobs_max).await?;
        expired += of_batch;
        if i64::try_from(of_batch).unwrap_or(i64::MAX) < jobs_max || shutdown.is_cancelled() {
            return Ok(expired);
        }
    }
}

async fn batch(pool: &Pool, publisher: &Publisher, jobs_max: i64) -> Result<usize, RoundError> {
    let mut client = pool.get().await?;
    let tx = client.transaction().await?;
    let mut expired = 0;
    for due in &expiry::due(&*tx, jobs_max).await? {
        expired += usize::from(one(&tx, publisher, due).await?);
    }
    if expired == 0 {
        return Ok(0);
    }
    tx.commit().await?;
    metrics::expired(expired);
    if let Err(error) = waybill_outbox::wake(&client).await {
        // A hint only: the relay's poll finds the rows without it.
        tracing::debug!(%error, "the relay was not woken");
    }
    Ok(expired)
}

async fn one(tx: &Transaction<'_>, publisher: &Publisher, due: &Due) -> Result<bool, RoundError> {
    let Due { job, now } = due;
    // The row is locked and its time is over by the same clock, so neither the decision nor its storing is refused; were it
    // so, the export would stay as it is.
    let Ok(decision) = decide(&job.lifecycle, Command::Expire, *now) else { return Ok(false) };
    let Some(job) = expiry::store(&**tx, job, &decision).await? else { return Ok(false) };
    let result = match &job.result_candidate_id {
        Some(candidate_id) => candidate::find(&**tx, candidate_id).await?,
        None => None,
    };
    if let Some(kind) = decision.fact {
        publisher.fact(&**tx, &job, result.as_ref(), kind, *now).await?;
    }
    if let Some(result) = &result {
        candidate::condemn(&**tx, &result.candidate_id, Cause::ExportExpired).await?;
    }
    tracing::debug!(export_id = %job.export_id, "expired");
    Ok(true)
}
