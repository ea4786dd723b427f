//! Claims the next due job: one transaction a round, a tenant a round.

use tokio::time::Instant;
use waybill_domain::attempt::AttemptState;
use waybill_domain::ids::TenantId;
use waybill_domain::job::{Command, Decision, JobState, decide};
use waybill_fault_points::{Point, reach};
use waybill_store::attempt::{self, Cause};
use waybill_store::claim::{self, Due};
use waybill_store::job::{self, Job};

use crate::database::DatabaseError;
use crate::lease::Lease;
use crate::{Worker, codes, metrics};

/// How many tenants one claim tries before it leaves the rest to the next poll.
const TENANTS_TRIED_MAX: usize = 32;

/// A job that this worker holds.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// The job as the claim left it: running, under this attempt's fence.
    pub job: Job,
    /// Until when this attempt surely holds it.
    pub(crate) lease: Lease,
}

impl Claimed {
    /// The processing generation of this attempt.
    pub fn fence(&self) -> i64 {
        self.job.lifecycle.fence
    }
}

/// What one round found.
enum Round {
    /// A job, now this worker's.
    Claimed(Box<Claimed>),
    /// A job that nobody may try again without a person; others may be due.
    Quarantined,
    /// The tenant's slots filled up, or its due jobs are in other hands at this moment.
    Contended(TenantId),
    /// Nothing is due.
    Nothing,
}

/// Claims the next due job in tenant-fair order. `None`: nothing is due, or others are claiming all of it.
///
/// # Errors
/// The database could not be reached. A COMMIT without an answer was read back first.
pub async fn claim_next(worker: &Worker) -> Result<Option<Claimed>, DatabaseError> {
    let mut tried = Vec::new();
    while tried.len() < TENANTS_TRIED_MAX {
        match round(worker, &tried).await? {
            Round::Claimed(claimed) => {
                metrics::claimed();
                return Ok(Some(*claimed));
            }
            Round::Quarantined => metrics::quarantined(),
            Round::Contended(tenant_id) => tried.push(tenant_id),
            Round::Nothing => break,
        }
    }
    Ok(None)
}

async fn round(worker: &Worker, tried: &[TenantId]) -> Result<Round, DatabaseError> {
    let asked_at = Instant::now();
    let mut client = worker.export.get().await?;
    let tx = client.transaction().await?;
    let Some(turn) = claim::next_tenant(&*tx, tried).await? else {
        return Ok(Round::Nothing);
    };
    if claim::running(&*tx, &turn.tenant_id).await? >= turn.running_limit {
        return Ok(Round::Contended(turn.tenant_id));
    }
    let Some(Due { job, now }) = claim::due_job(&*tx, &turn.tenant_id).await? else {
        return Ok(Round::Contended(turn.tenant_id));
    };
    let lease = worker.signed_lease();
    let Ok(decision) = decide(&job.lifecycle, Command::Claim { lease }, now) else {
        return Ok(Round::Contended(turn.tenant_id));
    };
    let Some(job) = store(worker, &tx, &job, &decision).await? else {
        return Ok(Round::Contended(turn.tenant_id));
    };
    claim::mark_tenant(&*tx, &turn.tenant_id).await?;
    reach(Point::WorkerClaiming);
    let committed = tx.commit().await;
    drop(client);
    if job.lifecycle.state != JobState::Running {
        committed?;
        tracing::error!(
            export_id = %job.export_id,
            lost_leases = job.lifecycle.lost_leases,
            error.code = codes::EXPORT_QUARANTINED,
            "quarantined: its attempts lost their leases too often"
        );
        return Ok(Round::Quarantined);
    }
    let claimed = Claimed { job, lease: Lease::asked_for(asked_at, worker.lease) };
    if let Err(error) = committed {
        // Nobody knows whether it happened; the attempt's row does. Without an answer from it the lease decides.
        if error.as_db_error().is_some() || !is_ours(worker, &claimed).await? {
            return Err(error.into());
        }
    }
    Ok(Round::Claimed(Box::new(claimed)))
}

/// Stores what was decided: the job, the attempt that lost its lease, the attempt that begins.
async fn store(
    worker: &Worker,
    tx: &tokio_postgres::Transaction<'_>,
    due: &Job,
    decision: &Decision,
) -> Result<Option<Job>, DatabaseError> {
    let stored = job::store_decision(tx, &due.export_id, &due.lifecycle, decision, None).await?;
    let Some(job) = stored else { return Ok(None) };
    if let Some((fence, state)) = decision.ended_attempt {
        let cause = Cause { code: codes::LEASE_LOST, detail: "its lease ran out and the job was taken over" };
        attempt::end(tx, &job.export_id, fence, state, Some(cause)).await?;
    }
    if job.lifecycle.state == JobState::Running {
        attempt::begin(tx, &job.export_id, job.lifecycle.fence, &worker.name).await?;
    }
    if let Some(kind) = decision.fact {
        let now = claim::database_now(tx).await?;
        worker.publisher.fact(tx, &job, None, kind, now).await?;
    }
    Ok(Some(job))
}

/// Whether the claim whose COMMIT got no answer took place. The job's lock waits out a COMMIT still under way.
async fn is_ours(worker: &Worker, claimed: &Claimed) -> Result<bool, DatabaseError> {
    let mut client = worker.export.get().await?;
    let tx = client.transaction().await?;
    job::lock(&*tx, &claimed.job.export_id).await?;
    let standing = attempt::standing(&*tx, &claimed.job.export_id, claimed.fence()).await?;
    Ok(standing
        .is_some_and(|standing| standing.state == AttemptState::Running && standing.worker == worker.name))
}
