//! Writers that commit at a pace, one row a transaction, each key by one of them.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::task::Poll;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use tokio::sync::{Barrier, Notify};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use super::outbox::{Outbox, Row};
use super::size::WRITERS;
use crate::postgres::connect;

/// Transactions of one connection that may wait for their answer, so that a writer that is late can catch up.
const IN_FLIGHT_MAX: usize = 64;

/// The relay is woken at most so often: a service that commits thousands of times a second coalesces its wakes.
const WAKE_INTERVAL: Duration = Duration::from_millis(5);

/// A row on its way.
type Commit = Pin<Box<dyn Future<Output = Result<()>> + Send>>;

/// When each event's commit was answered, in microseconds since 1970; 0 before.
#[derive(Debug)]
pub(crate) struct Commits {
    at: Vec<AtomicI64>,
    committed: Notify,
}

impl Commits {
    fn none(events: u64) -> Self {
        Self { at: (0..events).map(|_| AtomicI64::new(0)).collect(), committed: Notify::new() }
    }

    fn note(&self, number: u64) {
        if let Some(at) = usize::try_from(number).ok().and_then(|index| self.at.get(index)) {
            at.store(micros_now(), Ordering::Relaxed);
        }
        self.committed.notify_one();
    }

    /// When the commit of that event was answered.
    pub(crate) fn at(&self, number: u64) -> Option<i64> {
        let at = self.at.get(usize::try_from(number).ok()?)?.load(Ordering::Relaxed);
        (at != 0).then_some(at)
    }
}

/// What is to be written, and how fast.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) url: String,
    pub(crate) outbox: Outbox,
    pub(crate) topic: String,
    pub(crate) events: u64,
    pub(crate) per_second: u64,
}

/// Writes it all. Gives when each was committed, and how long all of it took.
pub(crate) async fn write(plan: Plan) -> Result<(Arc<Commits>, Duration)> {
    let commits = Arc::new(Commits::none(plan.events));
    let plan = Arc::new(plan);
    let ready = Arc::new(Barrier::new(usize::try_from(WRITERS)? + 1));
    let waker = match plan.outbox {
        Outbox::Waybill => Some(tokio::spawn(wake(plan.url.clone(), Arc::clone(&commits)))),
        Outbox::Debezium => None,
    };
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        writers.spawn(write_some(writer, Arc::clone(&plan), Arc::clone(&commits), Arc::clone(&ready)));
    }
    ready.wait().await;
    let begun = Instant::now();
    while let Some(written) = writers.join_next().await {
        written.context("a writer stopped")??;
    }
    let took = begun.elapsed();
    if let Some(waker) = waker {
        waker.abort();
    }
    Ok((commits, took))
}

/// One writer's events, in order, each when it is due or as soon after as it can be.
async fn write_some(writer: u64, plan: Arc<Plan>, commits: Arc<Commits>, ready: Arc<Barrier>) -> Result<()> {
    let db = Arc::new(connect(&plan.url).await?);
    let statement = plan.outbox.prepare(&db).await?;
    ready.wait().await;
    let begun = Instant::now();
    let mut in_flight = FuturesOrdered::<Commit>::new();
    for number in (writer..plan.events).step_by(usize::try_from(WRITERS)?) {
        let due = begun + Duration::from_micros(number * 1_000_000 / plan.per_second);
        while Instant::now() < due || in_flight.len() >= IN_FLIGHT_MAX {
            tokio::select! {
                () = sleep_until(due), if in_flight.len() < IN_FLIGHT_MAX => {}
                Some(committed) = in_flight.next() => committed?,
            }
        }
        let (db, statement) = (Arc::clone(&db), statement.clone());
        let (plan, commits) = (Arc::clone(&plan), Arc::clone(&commits));
        let mut commit: Commit = Box::pin(async move {
            let row = Row::of(&plan.topic, number);
            db.execute(&statement, &plan.outbox.values(&row)).await.context("a row was not written")?;
            commits.note(number);
            Ok(())
        });
        // The first poll is what sends it: here, so that a key's events go out in their order.
        match poll_fn(|context| Poll::Ready(commit.as_mut().poll(context))).await {
            Poll::Ready(committed) => committed?,
            Poll::Pending => in_flight.push_back(commit),
        }
    }
    while let Some(committed) = in_flight.next().await {
        committed?;
    }
    Ok(())
}

/// As a service does after its commits. A hint need not be durable, and a NOTIFY is a commit like any other.
async fn wake(url: String, commits: Arc<Commits>) -> Result<()> {
    let db = connect(&url).await?;
    db.batch_execute("SET synchronous_commit = off").await?;
    loop {
        commits.committed.notified().await;
        db.batch_execute(include_str!("sql/wake.sql")).await?;
        sleep(WAKE_INTERVAL).await;
    }
}

fn micros_now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}
