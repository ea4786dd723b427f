//! Ends an attempt: completes its job, or fails it. Each is one fenced transaction that can be repeated.
//!
//! A repetition answers the COMMIT whose reply was lost: it locks the job, which waits out a COMMIT still under way,
//! and reads its own attempt back by key before it decides anything. Deliberately absent: a write that does not go
//! through the job's lifecycle, and any touch of an object.

use tokio_postgres::Transaction;
use waybill_domain::attempt::AttemptState;
use waybill_domain::job::{Command, Decision, JobState, Rejection, decide};
use waybill_domain::limits::Jitter;
use waybill_store::attempt::{self, Cause, Progress};
use waybill_store::candidate::{self, Candidate};
use waybill_store::claim;
use waybill_store::job::{self, Failure, Job};

use crate::Worker;
use crate::attempt_error::{AttemptError, Verdict};
use crate::claiming::Claimed;
use crate::database::DatabaseError;
use crate::recording;

/// How the end of an attempt came out.
#[derive(Debug)]
pub enum Settled {
    /// It is recorded; this is the job as it stands now.
    Recorded(Box<Job>),
    /// Refused: another generation, or an end, came in between. Nothing of the job was changed, nothing published.
    Fenced(Rejection),
}

/// Selects the candidate as the job's result and publishes the fact, if this attempt still holds the job.
///
/// # Errors
/// The database could not be reached before the lease was over.
pub async fn complete(
    worker: &Worker,
    claimed: &Claimed,
    candidate: &Candidate,
    progress: Progress,
) -> Result<Settled, DatabaseError> {
    recording::record(claimed, "the completion", || complete_once(worker, claimed, candidate, progress)).await
}

/// Fails the job for a passing reason or for good, if this attempt still holds it.
///
/// # Errors
/// The database could not be reached for minutes.
pub(crate) async fn fail(
    worker: &Worker,
    claimed: &Claimed,
    error: &AttemptError,
    progress: Progress,
) -> Result<Settled, DatabaseError> {
    recording::tell(claimed, "the failure", || fail_once(worker, claimed, error, progress)).await
}

async fn complete_once(
    worker: &Worker,
    claimed: &Claimed,
    candidate: &Candidate,
    progress: Progress,
) -> Result<Settled, DatabaseError> {
    let mut client = worker.export.get().await?;
    let tx = client.transaction().await?;
    let (job, decision) =
        match decided(&tx, claimed, Command::Complete { fence: claimed.fence() }, AttemptState::Succeeded)
            .await?
        {
            Ok(decided) => decided,
            Err(settled) => return close(tx, settled).await,
        };
    let stale =
        Rejection::Fenced { held: claimed.fence(), current: job.lifecycle.fence, state: job.lifecycle.state };
    let Some(job) = claim::complete(&*tx, &job, &decision, &candidate.candidate_id).await? else {
        return Ok(Settled::Fenced(stale));
    };
    let selected = candidate::select(&*tx, &candidate.candidate_id, &job.export_id, claimed.fence()).await?;
    let Some(selected) = selected else { return Ok(Settled::Fenced(stale)) };
    end_attempt(&tx, claimed, &decision, progress, None).await?;
    publish(worker, &tx, &job, Some(&selected), &decision).await?;
    tx.commit().await?;
    wake(&client).await;
    Ok(Settled::Recorded(Box::new(job)))
}

async fn fail_once(
    worker: &Worker,
    claimed: &Claimed,
    error: &AttemptError,
    progress: Progress,
) -> Result<Settled, DatabaseError> {
    let fence = claimed.fence();
    let treatment = error.kind().treatment();
    let command = match treatment.verdict {
        Verdict::Permanent => Command::FailForGood { fence },
        Verdict::HandBack | Verdict::Fenced => Command::HandBack { fence },
        Verdict::Transient(suspect) => {
            Command::FailTransient { fence, suspect, jitter: Jitter::of(&claimed.job.export_id) }
        }
    };
    let mut client = worker.export.get().await?;
    let tx = client.transaction().await?;
    let (before, decision) = match decided(&tx, claimed, command, AttemptState::Failed).await? {
        Ok(decided) => decided,
        Err(settled) => return close(tx, settled).await,
    };
    let told = error.to_string();
    let failure =
        (decision.next.state == JobState::Failed).then_some(Failure { code: treatment.code, detail: &told });
    let stored = job::store_decision(&*tx, &before.export_id, &before.lifecycle, &decision, failure).await?;
    let Some(job) = stored else {
        let lifecycle = before.lifecycle;
        return Ok(Settled::Fenced(Rejection::Fenced {
            held: fence,
            current: lifecycle.fence,
            state: lifecycle.state,
        }));
    };
    let detail = error.detail();
    let cause = Cause { code: treatment.code, detail: &detail };
    end_attempt(&tx, claimed, &decision, progress, Some(cause)).await?;
    publish(worker, &tx, &job, None, &decision).await?;
    tx.commit().await?;
    if decision.fact.is_some() {
        wake(&client).await;
    }
    Ok(Settled::Recorded(Box::new(job)))
}

/// Locks the job and decides. A refusal is settled here: either this very end was committed before and only its reply
/// was lost, or the attempt is fenced, which it then knows and records.
async fn decided(
    tx: &Transaction<'_>,
    claimed: &Claimed,
    command: Command,
    wanted: AttemptState,
) -> Result<Result<(Job, Decision), Settled>, DatabaseError> {
    let fence = claimed.fence();
    let Some(job) = job::lock(tx, &claimed.job.export_id).await? else {
        let state = claimed.job.lifecycle.state;
        return Ok(Err(Settled::Fenced(Rejection::NotAllowed { state, command: command.name() })));
    };
    let now = claim::database_now(tx).await?;
    let rejection = match decide(&job.lifecycle, command, now) {
        Ok(decision) => return Ok(Ok((job, decision))),
        Err(rejection) => rejection,
    };
    let standing = attempt::standing(tx, &job.export_id, fence).await?;
    if standing.is_some_and(|standing| standing.state == wanted) {
        return Ok(Err(Settled::Recorded(Box::new(job))));
    }
    attempt::end(tx, &job.export_id, fence, AttemptState::Fenced, None).await?;
    Ok(Err(Settled::Fenced(rejection)))
}

async fn close(tx: deadpool_postgres::Transaction<'_>, settled: Settled) -> Result<Settled, DatabaseError> {
    tx.commit().await?;
    Ok(settled)
}

async fn end_attempt(
    tx: &Transaction<'_>,
    claimed: &Claimed,
    decision: &Decision,
    progress: Progress,
    cause: Option<Cause<'_>>,
) -> Result<(), DatabaseError> {
    let export_id = &claimed.job.export_id;
    attempt::progress(tx, export_id, claimed.fence(), progress).await?;
    if let Some((fence, state)) = decision.ended_attempt {
        attempt::end(tx, export_id, fence, state, cause).await?;
    }
    Ok(())
}

async fn publish(
    worker: &Worker,
    tx: &Transaction<'_>,
    job: &Job,
    result: Option<&Candidate>,
    decision: &Decision,
) -> Result<(), DatabaseError> {
    if let Some(kind) = decision.fact {
        let now = claim::database_now(tx).await?;
        worker.publisher.fact(tx, job, result, kind, now).await?;
    }
    Ok(())
}

/// A hint to the relay. Its poll finds the row without it.
async fn wake(client: &tokio_postgres::Client) {
    if let Err(error) = waybill_outbox::wake(client).await {
        tracing::debug!(%error, "the relay was not woken");
    }
}
