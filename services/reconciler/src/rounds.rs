//! When to look, and how what was found is shown.

use std::time::Duration;

use deadpool_postgres::Pool;
use jiff::SignedDuration;
use tokio::time::{Instant, Interval, MissedTickBehavior};
use waybill_domain::candidate::Patience;
use waybill_objects::Objects;
use waybill_outbox::upkeep::DAYS_AHEAD_MIN;
use waybill_publication::Publisher;
use waybill_runtime::{Context, Health, chain};
use waybill_store::overdue::Reminders;

use crate::codes;
use crate::collector::{Collected, collect};
use crate::error::RoundError;
use crate::expiry::expire;
use crate::reminders::remind;
use crate::survey::{Surveyed, survey};
use crate::upkeep::{LeftBehind, Outbox, keep_ahead, let_go};

/// How often an outbox is looked after that is in shape.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(60 * 60);

/// How often one that is not, or that was not done with.
const UPKEEP_RETRY_INTERVAL: Duration = Duration::from_secs(60);

/// The longest time between two reminders of one job, unless `[reconciler] remind_after_ms` is longer.
const REMIND_AFTER_MAX_MS: i64 = 300_000;

/// How often the object store is compared with the rows.
const SURVEY_INTERVAL: Duration = Duration::from_secs(60 * 60);

const REMINDERS: &str = "reminders";
const EXPIRY: &str = "expiry";
const COLLECTION: &str = "collection";
const SURVEY: &str = "objects";

/// Reminds of overdue jobs until shutdown.
pub(crate) async fn of_reminders(context: &Context, pool: &Pool, publisher: &Publisher) {
    let config = &context.config.reconciler;
    let remind_after_ms = i64::try_from(config.remind_after_ms).unwrap_or(i64::MAX);
    let reminders = Reminders {
        jobs_max: config.batch_jobs_max,
        remind_after_ms,
        remind_after_max_ms: REMIND_AFTER_MAX_MS.max(remind_after_ms),
    };
    let mut poll = tokio::time::interval(config.poll_interval());
    poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = context.shutdown.cancelled() => return,
            _ = poll.tick() => {}
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

/// Waits for the next look; `false`: the process was asked to end.
async fn look(poll: &mut Interval, context: &Context) -> bool {
    tokio::select! {
        () = context.shutdown.cancelled() => false,
        _ = poll.tick() => true,
    }
}

fn polled(every: Duration) -> Interval {
    let mut poll = tokio::time::interval(every);
    poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
    poll
}

/// Expires results whose time is over until shutdown.
pub(crate) async fn of_expiry(context: &Context, pool: &Pool, publisher: &Publisher) {
    let config = &context.config.reconciler;
    let mut poll = polled(config.poll_interval());
    while look(&mut poll, context).await {
        match expire(pool, publisher, config.batch_jobs_max, &context.shutdown).await {
            Ok(exports) => {
                context.health.clear(EXPIRY);
                if exports > 0 {
                    tracing::info!(exports, "the time of results was over");
                }
            }
            Err(error) => context.health.degraded(EXPIRY, error.code(), chain(&error)),
        }
    }
}

/// Collects files that nobody needs until shutdown.
pub(crate) async fn of_collection(context: &Context, pool: &Pool, objects: &Objects) {
    let config = &context.config.reconciler;
    let signed = |duration| SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX);
    let patience = Patience {
        collect_after: signed(config.collect_after()),
        condemned_for: signed(config.condemned_for()),
    };
    let mut poll = polled(config.poll_interval());
    while look(&mut poll, context).await {
        match collect(pool, objects, patience, &context.shutdown).await {
            Ok(Collected { contradictions: 0, .. }) => context.health.clear(COLLECTION),
            Ok(Collected { contradictions, .. }) => {
                let detail =
                    format!("{contradictions} files are condemned though they are needed; they stay");
                context.health.degraded(COLLECTION, codes::CONDEMNED_BUT_NEEDED, detail);
            }
            Err(error) => context.health.degraded(COLLECTION, error.code(), chain(&error)),
        }
    }
}

/// Compares the store with the rows now and then until shutdown.
pub(crate) async fn of_surveys(context: &Context, pool: &Pool, objects: &Objects) {
    let mut poll = polled(SURVEY_INTERVAL);
    while look(&mut poll, context).await {
        let surveyed = tokio::select! {
            () = context.shutdown.cancelled() => return,
            surveyed = survey(pool, objects) => surveyed,
        };
        match surveyed {
            Ok(Surveyed { unknown: 0, .. }) => context.health.clear(SURVEY),
            Ok(Surveyed { unknown, .. }) => {
                let detail = format!("{unknown} objects in the store are known by no row; they stay");
                context.health.degraded(SURVEY, codes::OBJECTS_UNKNOWN, detail);
            }
            Err(error) => context.health.degraded(SURVEY, error.code(), chain(&error)),
        }
    }
}

/// Keeps the outboxes in shape until shutdown, each at its own time.
pub(crate) async fn of_upkeep(context: &Context, outboxes: &[Outbox]) {
    let each = outboxes.iter().map(|outbox| of_one_outbox(context, outbox));
    futures_util::future::join_all(each).await;
}

async fn of_one_outbox(context: &Context, outbox: &Outbox) {
    let config = &context.config.reconciler;
    let mut due = Instant::now();
    loop {
        tokio::select! {
            () = context.shutdown.cancelled() => return,
            () = tokio::time::sleep_until(due) => {}
        }
        // Partitions ahead come first, because writers need those.
        let ahead = keep_ahead(outbox, config.partitions_ahead_days).await;
        let left = let_go(outbox, config.outbox_retention_days, &context.shutdown).await;
        let well = show_ahead(&context.health, &outbox.name, ahead)
            & show_left_behind(&context.health, &outbox.name, left);
        due = Instant::now() + if well { UPKEEP_INTERVAL } else { UPKEEP_RETRY_INTERVAL };
    }
}

/// Shows how far ahead the partitions are, and answers whether that is far enough.
fn show_ahead(health: &Health, outbox: &str, ahead: Result<i64, RoundError>) -> bool {
    let component = format!("partitions of {outbox}");
    let detail = match ahead {
        Ok(days) if days >= DAYS_AHEAD_MIN => {
            health.clear(&component);
            return true;
        }
        Ok(days) => format!("{days} days of partitions ahead, {DAYS_AHEAD_MIN} at the least"),
        Err(error) => chain(&error),
    };
    health.degraded(&component, codes::OUTBOX_PARTITIONS_LOW, detail);
    false
}

/// Shows what had to stay, and answers whether the pass was done with everything that may go.
fn show_left_behind(health: &Health, outbox: &str, left: Result<LeftBehind, RoundError>) -> bool {
    let component = format!("retention of {outbox}");
    match left {
        Ok(LeftBehind { kept_partitions: 0, unfinished }) => {
            health.clear(&component);
            !unfinished
        }
        Ok(LeftBehind { kept_partitions, unfinished }) => {
            let detail = format!("{kept_partitions} old partitions hold a row that was not relayed");
            health.degraded(&component, codes::OUTBOX_PARTITION_KEPT, detail);
            !unfinished
        }
        Err(error) => {
            health.degraded(&component, codes::OUTBOX_RETENTION_FAILING, chain(&error));
            false
        }
    }
}
