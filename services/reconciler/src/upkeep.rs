//! Keeps every outbox in shape: partitions far enough ahead, and none kept for longer than it has to be.
//!
//! Any number of reconcilers may do it at once, for the functions of the database take turns. Deliberately absent: any
//! judgement of its own about what was relayed.

use std::time::Duration;

use deadpool_postgres::Pool;
use tokio_util::sync::CancellationToken;
use waybill_outbox::upkeep::{self, is_busy};
use waybill_store::migrations::check_outbox;

use crate::error::RoundError;
use crate::metrics;

/// The most partitions that one pass drops: two weeks' worth of a day's two. What is left goes with the next one.
pub const DROPS_OF_A_PASS_MAX: usize = 28;

/// The most parked rows that one statement forgets, and the most statements of one pass.
const FORGOTTEN_ROWS_MAX: i32 = 10_000;
const FORGETTINGS_OF_A_PASS_MAX: usize = 10;

/// How often a partition that somebody holds is tried for in one pass, and the wait in between.
const BUSY_ATTEMPTS_MAX: usize = 5;
const BUSY_PAUSE: Duration = Duration::from_millis(500);

/// One outbox, as this role reaches it.
#[derive(Debug, Clone)]
pub struct Outbox {
    /// What the configuration calls it.
    pub name: String,
    /// Its schema.
    pub schema: String,
    /// Connections whose `search_path` is its schema.
    pub pool: Pool,
}

/// What a pass of [`let_go`] left behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeftBehind {
    /// How many partitions are old enough to go and hold a row that was not relayed.
    pub kept_partitions: i32,
    /// Whether there was more to do than one pass does, or somebody stood in the way: the next one should come soon.
    pub unfinished: bool,
}

/// Makes what is missing and answers how many days ahead there are now. What could not be made (a reader holds the
/// parent too long, say) does not hide how many there are.
///
/// # Errors
/// Nothing could be made, or counted.
pub async fn keep_ahead(outbox: &Outbox, days: i32) -> Result<i64, RoundError> {
    let client = outbox.pool.get().await?;
    check_outbox(&**client, &outbox.schema).await?;
    let made = upkeep::ensure_partitions(&**client, days).await;
    let ahead = upkeep::days_ahead(&**client).await?;
    metrics::partitions_ahead(&outbox.name, ahead);
    let made = made?;
    if made > 0 {
        tracing::info!(
            outbox.name,
            partitions = made,
            days_ahead = ahead,
            "made the outbox's next partitions"
        );
    }
    Ok(ahead)
}

/// One pass over one outbox: drops the partitions and forgets the parked rows that are older than so many days and were
/// relayed, as many as fit into a pass.
///
/// # Errors
/// What was dropped and forgotten before stands.
pub async fn let_go(
    outbox: &Outbox,
    retention_days: i32,
    shutdown: &CancellationToken,
) -> Result<LeftBehind, RoundError> {
    let (kept_partitions, unfinished) = drop_relayed(outbox, retention_days, shutdown).await?;
    let more = forget_sent(outbox, retention_days, shutdown).await?;
    Ok(LeftBehind { kept_partitions, unfinished: unfinished || more })
}

/// Drops what may go. Answers how many partitions had to stay, and whether there may be more to drop.
async fn drop_relayed(
    outbox: &Outbox,
    retention_days: i32,
    shutdown: &CancellationToken,
) -> Result<(i32, bool), RoundError> {
    let (mut kept, mut attempts) = (0, 0);
    for _ in 0..DROPS_OF_A_PASS_MAX {
        let client = outbox.pool.get().await?;
        let dropped = match upkeep::drop_relayed(&**client, retention_days).await {
            Ok(dropped) => dropped,
            Err(error) if is_busy(&error) => {
                attempts += 1;
                if attempts >= BUSY_ATTEMPTS_MAX || wait(BUSY_PAUSE, shutdown).await {
                    tracing::info!(outbox.name, "the outbox is in use: its old partitions go later");
                    return Ok((kept, true));
                }
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        kept = dropped.kept;
        metrics::partitions_kept(&outbox.name, kept);
        let Some(partition) = dropped.partition else { return Ok((kept, false)) };
        metrics::partition_dropped(&outbox.name);
        tracing::info!(outbox.name, partition, "dropped a partition whose every row was relayed long ago");
        if shutdown.is_cancelled() {
            break;
        }
    }
    Ok((kept, true))
}

/// Forgets parked rows that were sent long ago. Answers whether there may be more of them.
async fn forget_sent(
    outbox: &Outbox,
    retention_days: i32,
    shutdown: &CancellationToken,
) -> Result<bool, RoundError> {
    for _ in 0..FORGETTINGS_OF_A_PASS_MAX {
        let client = outbox.pool.get().await?;
        let rows = upkeep::forget_sent(&**client, retention_days, FORGOTTEN_ROWS_MAX).await?;
        if rows > 0 {
            metrics::parked_forgotten(&outbox.name, rows);
            tracing::info!(outbox.name, rows, "forgot parked rows that were sent long ago");
        }
        if rows < FORGOTTEN_ROWS_MAX || shutdown.is_cancelled() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Waits, and answers whether the process was asked to end meanwhile.
async fn wait(pause: Duration, shutdown: &CancellationToken) -> bool {
    tokio::time::timeout(pause, shutdown.cancelled()).await.is_ok()
}
