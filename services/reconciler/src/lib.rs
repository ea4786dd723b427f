//! Finds work that nothing would move and puts it in motion again.
//!
//! It takes no input: it looks at the world and acts. Any number of them may run side by side, because everything it
//! takes is taken under a lock that the others skip. Deliberately absent: a claim, a state change, a deletion of
//! anything that a live attempt may still need.

pub mod codes;
mod error;
pub mod metrics;
mod partitions;
mod reminders;

use std::time::Duration;

use deadpool_postgres::Pool;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;
use waybill_publication::Publisher;
use waybill_runtime::{Context, Health, Schema, chain};
use waybill_store::overdue::Reminders;

pub use error::{Error, RoundError};
pub use partitions::{DAYS_AHEAD_MIN, keep_ahead};
pub use reminders::remind;

/// How often partitions are looked after once they are far enough ahead.
const PARTITIONS_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// How often while they are not.
const PARTITIONS_RETRY_INTERVAL: Duration = Duration::from_secs(60);

/// The longest time between two reminders of one job, unless `[reconciler] remind_after_ms` is longer.
const REMIND_AFTER_MAX_MS: i64 = 300_000;

/// How long a shutdown waits for the round under way. Rolled back, it is as if it had never begun.
const STOP_LIMIT: Duration = Duration::from_secs(10);

const REMINDERS: &str = "reminders";
const PARTITIONS: &str = "partitions";

/// Runs the reconciler until its context is shut down.
///
/// # Errors
/// The settings cannot be used.
pub async fn run(context: Context) -> Result<(), Error> {
    let pool = context.pool(Schema::Export)?;
    let publisher = Publisher::new(&context.config.deployment.source, context.topic_prefix())?;
    let shutdown = context.shutdown.clone();
    tokio::select! {
        () = look(&context, &pool, &publisher) => {}
        () = out_of_time(&shutdown) => tracing::warn!("stopped in the middle of a round"),
    }
    Ok(())
}

async fn look(context: &Context, pool: &Pool, publisher: &Publisher) {
    let config = &context.config.reconciler;
    let remind_after_ms = i64::try_from(config.remind_after_ms).unwrap_or(i64::MAX);
    let reminders = Reminders {
        jobs_max: config.batch_jobs_max,
        remind_after_ms,
        remind_after_max_ms: REMIND_AFTER_MAX_MS.max(remind_after_ms),
    };
    let mut poll = tokio::time::interval(config.poll_interval());
    poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut partitions_due = Instant::now();
    loop {
        tokio::select! {
            () = context.shutdown.cancelled() => return,
            _ = poll.tick() => {}
        }
        if Instant::now() >= partitions_due {
            let ahead = keep_ahead(pool, config.partitions_ahead_days).await;
            partitions_due = Instant::now() + show_partitions(&context.health, ahead);
        }
        let reminded = remind(pool, publisher, &reminders, &context.shutdown).await;
        show_reminders(&context.health, reminded);
    }
}

fn show_reminders(health: &Health, reminded: Result<usize, RoundError>) {
    match reminded {
        Ok(jobs) => {
            health.clear(REMINDERS);
            if jobs > 0 {
                tracing::info!(jobs, "wrote the commands of overdue jobs again");
            }
        }
        Err(error) => health.degraded(REMINDERS, codes::EXPORT_DATABASE_UNAVAILABLE, chain(&error)),
    }
}

/// Shows how far ahead the partitions are and answers when to look again.
fn show_partitions(health: &Health, ahead: Result<i64, RoundError>) -> Duration {
    match ahead {
        Ok(days) if days >= DAYS_AHEAD_MIN => {
            health.clear(PARTITIONS);
            PARTITIONS_INTERVAL
        }
        Ok(days) => {
            let detail = format!("{days} days of partitions ahead, {DAYS_AHEAD_MIN} at the least");
            health.degraded(PARTITIONS, codes::OUTBOX_PARTITIONS_LOW, detail);
            PARTITIONS_RETRY_INTERVAL
        }
        Err(error) => {
            health.degraded(PARTITIONS, codes::OUTBOX_PARTITIONS_LOW, chain(&error));
            PARTITIONS_RETRY_INTERVAL
        }
    }
}

async fn out_of_time(shutdown: &CancellationToken) {
    shutdown.cancelled().await;
    tokio::time::sleep(STOP_LIMIT).await;
}
