//! Decides when to claim, and runs what was claimed, in a bounded number of slots.
//!
//! A command, a freed slot and the poll all mean the same: look for due work. So the three are one loop, and whatever
//! is lost of the first two the third finds. Deliberately absent: a queue of claimed jobs. What has no slot stays in
//! the database, where another worker can take it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;
use waybill_fault_points::{Point, reach};
use waybill_runtime::shutdown::ROLE_LIMIT;
use waybill_runtime::{Health, chain};

use crate::claiming::claim_next;
use crate::database::DatabaseError;
use crate::{Worker, codes, execution, metrics};

/// The component under which claiming shows in the health page.
const COMPONENT: &str = "claim";

/// How long a shutdown waits for a claim under way.
const STOP_CLAIMING_MS: u64 = 4_000;

/// How long a shutdown then lets running attempts finish.
const GRACE_MS: u64 = 10_000;

/// How long they then have to record that they were abandoned.
const ABANDON_MS: u64 = 8_000;

const _: () = assert!((STOP_CLAIMING_MS + GRACE_MS + ABANDON_MS) as u128 <= ROLE_LIMIT.as_millis());

/// How many wake-ups may wait. One would do: they all mean the same.
pub(crate) const WAKE_UPS_MAX: usize = 16;

/// Somebody wants due work looked for, and wants to know that it was.
#[derive(Debug)]
pub(crate) struct WakeUp {
    /// Answered once every claim that there was a slot for has committed, or has found nothing due.
    pub(crate) looked: oneshot::Sender<Result<(), LookFailed>>,
}

/// The database could not be asked; the wake-up must come again.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the worker could not look for due work")]
pub(crate) struct LookFailed(#[source] Arc<DatabaseError>);

/// How many attempts run at once and how often due work is looked for unasked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slots {
    pub(crate) count: usize,
    pub(crate) poll_interval: Duration,
}

/// Runs until `shutdown`, and then until every attempt has ended or its time to do so has.
pub(crate) async fn run(
    worker: Arc<Worker>,
    slots: Slots,
    mut wake_ups: mpsc::Receiver<WakeUp>,
    health: Health,
    shutdown: CancellationToken,
) {
    let abandon = CancellationToken::new();
    let mut running = JoinSet::new();
    let mut poll = tokio::time::interval(slots.poll_interval);
    poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !shutdown.is_cancelled() {
        let mut waiting = Vec::new();
        tokio::select! {
            () = shutdown.cancelled() => break,
            Some(wake_up) = wake_ups.recv() => waiting.push(wake_up),
            Some(_ended) = running.join_next(), if !running.is_empty() => {}
            _ = poll.tick() => {}
        }
        while let Ok(wake_up) = wake_ups.try_recv() {
            waiting.push(wake_up);
        }
        metrics::running(running.len());
        let looked = tokio::select! {
            looked = fill(&worker, slots.count, &mut running, &abandon) => looked,
            () = stopped(&shutdown) => break,
        };
        show(&health, looked.as_ref());
        for wake_up in waiting {
            // Whoever asked may be gone by now, which is their answer too.
            let _gone = wake_up.looked.send(looked.clone());
        }
    }
    drop(wake_ups);
    drain(running, &abandon).await;
}

/// Claims until no slot is free or nothing is due.
async fn fill(
    worker: &Arc<Worker>,
    slots: usize,
    running: &mut JoinSet<()>,
    abandon: &CancellationToken,
) -> Result<(), LookFailed> {
    while running.len() < slots {
        let claimed = match claim_next(worker).await {
            Ok(Some(claimed)) => claimed,
            Ok(None) => break,
            Err(error) => {
                tracing::debug!(error = &error as &(dyn std::error::Error + 'static), "a claim failed");
                return Err(LookFailed(Arc::new(error)));
            }
        };
        reach(Point::WorkerClaimed);
        tracing::info!(export_id = %claimed.job.export_id, fence = claimed.fence(), "claimed");
        let (worker, abandon) = (Arc::clone(worker), abandon.clone());
        running.spawn(async move {
            Box::pin(execution::execute(&worker, &claimed, &abandon)).await;
        });
        metrics::running(running.len());
    }
    Ok(())
}

/// A claim under way may end; one that cannot end must not hold the shutdown up.
async fn stopped(shutdown: &CancellationToken) {
    shutdown.cancelled().await;
    tokio::time::sleep(Duration::from_millis(STOP_CLAIMING_MS)).await;
}

fn show(health: &Health, looked: Result<&(), &LookFailed>) {
    match looked {
        Ok(()) => health.clear(COMPONENT),
        Err(LookFailed(cause)) => {
            health.degraded(COMPONENT, codes::EXPORT_DATABASE_UNAVAILABLE, chain(&**cause));
        }
    }
}

async fn drain(mut running: JoinSet<()>, abandon: &CancellationToken) {
    let grace = Instant::now() + Duration::from_millis(GRACE_MS);
    if all_ended(&mut running, grace).await {
        return;
    }
    tracing::info!(attempts = running.len(), "abandoning attempts that outlast the shutdown");
    abandon.cancel();
    if !all_ended(&mut running, Instant::now() + Duration::from_millis(ABANDON_MS)).await {
        tracing::warn!(attempts = running.len(), "attempts could not be recorded: their leases will run out");
    }
}

async fn all_ended(running: &mut JoinSet<()>, deadline: Instant) -> bool {
    let ended = tokio::time::timeout_at(deadline, async {
        while running.join_next().await.is_some() {
            metrics::running(running.len());
        }
    });
    ended.await.is_ok()
}
