//! Keeps the outbox's partitions far enough ahead.

use deadpool_postgres::Pool;
use waybill_store::partition;

use crate::error::RoundError;
use crate::metrics;

/// With fewer days ahead than this a person must look, because at the end of the last one no export can be accepted.
pub const DAYS_AHEAD_MIN: i64 = 3;

/// Makes what is missing and answers how many days ahead there are now. What could not be made (a reader holds the
/// parent too long, say) does not hide how many there are.
///
/// # Errors
/// Nothing could be made, or counted.
pub async fn keep_ahead(pool: &Pool, days: i32) -> Result<i64, RoundError> {
    let client = pool.get().await?;
    let made = partition::ensure(&**client, days).await;
    let ahead = partition::days_ahead(&**client).await?;
    metrics::partitions_ahead(ahead);
    let made = made?;
    if made > 0 {
        tracing::info!(partitions = made, days_ahead = ahead, "made the outbox's next partitions");
    }
    Ok(ahead)
}
