//! Taking a partition: its fence from Postgres, its topic and ends from Kafka, and from both where it starts.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::backoff::Backoff;
use crate::codes;
use crate::crew::Crew;
use crate::failure::{Cause, chain};
use crate::start::{Start, StoredPosition, start_decision};
use crate::{position, topic};

/// A halted partition is looked at again after that long at first.
const HALT_RECHECK: Duration = Duration::from_secs(1);

/// How long Postgres may take over a partition's position: longer than a frozen holder's transaction may sit idle.
const STATEMENTS_TIMEOUT: Duration = Duration::from_secs(30);

/// A partition that is ready to be read.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) topic_id: Arc<str>,
    pub(crate) fence: i64,
    pub(crate) next_offset: i64,
}

/// Why a partition is not read.
enum Obstacle {
    /// Reading would be a guess or a lie.
    Halted { code: &'static str, detail: String },
    /// Postgres or Kafka does not answer.
    Unavailable { code: &'static str, cause: Cause },
    /// Another holder stored the first position meanwhile: look again.
    Raced,
}

/// Takes a partition and finds where it starts, however long that takes: a partition that halts is looked at again from
/// time to time, and goes on by itself when the cause is gone. `None` once `cancel` was called.
pub(crate) async fn load<E>(crew: &Crew<E>, partition: i32, cancel: &CancellationToken) -> Option<Loaded> {
    let mut complaint = crew.complaint(partition);
    let mut outage = Backoff::new(crew.options.backoff_max);
    let mut halt = Backoff::starting_at(HALT_RECHECK, crew.options.backoff_max);
    let mut halted = HaltedCount { gauge: &crew.meter.halted, counted: false };
    loop {
        let tried = cancel.run_until_cancelled(attempt(crew, partition)).await?;
        let on = match tried {
            Ok(loaded) => return Some(loaded),
            Err(Obstacle::Raced) => !cancel.is_cancelled(),
            Err(Obstacle::Unavailable { code, cause }) => {
                complaint.raise(code, &chain(&*cause));
                outage.wait(cancel).await
            }
            Err(Obstacle::Halted { code, detail }) => {
                halted.count();
                complaint.raise(code, &format!("the partition is halted: {detail}"));
                outage.reset();
                halt.wait(cancel).await
            }
        };
        if !on {
            return None;
        }
    }
}

async fn attempt<E>(crew: &Crew<E>, partition: i32) -> Result<Loaded, Obstacle> {
    let place = crew.place(partition);
    // The fence comes first: from here on nobody else moves the position that is read with it.
    let (taken, bound_id) = with_connection(crew, async |db| {
        let taken = position::take_fence(db, place).await?;
        let bound_id = match taken {
            Some(_) => None,
            None => topic::bound_id(db, place.group, place.topic).await?,
        };
        Ok((taken, bound_id))
    })
    .await?;
    let view = crew.inspector.view(place.topic, partition).await.map_err(kafka)?;
    let stored = taken.as_ref().map(|(_, stored)| stored);
    let actual_id = view.topic_id.as_deref();
    match start_decision(stored, bound_id.as_deref(), actual_id, view.low, view.high) {
        Start::Halt(code) => {
            let detail = halt_detail(stored, bound_id.as_deref(), actual_id, view.low, view.high);
            Err(Obstacle::Halted { code, detail })
        }
        Start::Resume(next_offset) => {
            let (fence, stored) = taken.ok_or(Obstacle::Raced)?;
            Ok(Loaded { topic_id: stored.topic_id.into(), fence, next_offset })
        }
        Start::RecordZero => {
            let topic_id = bound_id.ok_or(Obstacle::Raced)?;
            let fence =
                with_connection(crew, async |db| position::record_zero(db, place, &topic_id).await).await?;
            let fence = fence.ok_or(Obstacle::Raced)?;
            Ok(Loaded { topic_id: topic_id.into(), fence, next_offset: 0 })
        }
    }
}

/// Runs a few statements on a connection of the pool, in bounded time. A connection that failed is given up.
async fn with_connection<E, T>(
    crew: &Crew<E>,
    work: impl AsyncFnOnce(&tokio_postgres::Client) -> Result<T, tokio_postgres::Error>,
) -> Result<T, Obstacle> {
    let db = crew.pool.get().await.map_err(postgres)?;
    let tried = tokio::time::timeout(STATEMENTS_TIMEOUT, work(&db)).await;
    let failed = match tried {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(error)) => postgres(error),
        Err(elapsed) => postgres(elapsed),
    };
    drop(deadpool_postgres::Object::take(db));
    Err(failed)
}

fn halt_detail(
    stored: Option<&StoredPosition>,
    bound_id: Option<&str>,
    actual_id: Option<&str>,
    low: i64,
    high: i64,
) -> String {
    let stored = match (stored, bound_id) {
        (Some(stored), _) => format!("position {} of topic id {}", stored.next_offset, stored.topic_id),
        (None, Some(bound_id)) => format!("no position, bound to topic id {bound_id}"),
        (None, None) => "no position and no binding".to_owned(),
    };
    match actual_id {
        Some(actual_id) => format!("{stored}; Kafka has topic id {actual_id} with offsets {low} to {high}"),
        None => format!("{stored}; Kafka has no such topic"),
    }
}

fn postgres(cause: impl Into<Cause>) -> Obstacle {
    Obstacle::Unavailable { code: codes::POSTGRES_UNAVAILABLE, cause: cause.into() }
}

fn kafka(cause: impl Into<Cause>) -> Obstacle {
    Obstacle::Unavailable { code: codes::KAFKA_UNAVAILABLE, cause: cause.into() }
}

/// Counts a partition as halted until it is loaded or given up.
struct HaltedCount<'a> {
    gauge: &'a metrics::Gauge,
    counted: bool,
}

impl HaltedCount<'_> {
    fn count(&mut self) {
        if !std::mem::replace(&mut self.counted, true) {
            self.gauge.increment(1.0);
        }
    }
}

impl Drop for HaltedCount<'_> {
    fn drop(&mut self) {
        if self.counted {
            self.gauge.decrement(1.0);
        }
    }
}
