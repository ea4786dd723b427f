//! Keeps an outbox in shape: partitions far enough ahead, and none that only holds what was relayed long ago.
//!
//! Every statement is unqualified: the connection's `search_path` is the outbox's schema, and its login may execute the
//! functions that do the work. Deliberately absent: when to do it, which is a service's to know.

use tokio_postgres::GenericClient;

/// With fewer days of partitions ahead than this a person must look: at the end of the last one nothing can be appended.
pub const DAYS_AHEAD_MIN: i64 = 3;

/// What one call of [`drop_relayed`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// The partition that went, or none when there is none to drop.
    pub partition: Option<String>,
    /// How many partitions are old enough to go and hold a row that was not relayed.
    pub kept: i32,
}

/// Makes the partitions of today and of `days_ahead` days (1 to 60), and answers how many were missing.
///
/// # Errors
/// Postgres refused, also because somebody held the table for more than 2 s.
pub async fn ensure_partitions(
    db: &impl GenericClient,
    days_ahead: i32,
) -> Result<i32, tokio_postgres::Error> {
    db.query_one(include_str!("upkeep/ensure_partitions.sql"), &[&days_ahead]).await?.try_get(0)
}

/// How many days after today (UTC) have their partitions, without a gap.
///
/// # Errors
/// Postgres refused the statement.
pub async fn days_ahead(db: &impl GenericClient) -> Result<i64, tokio_postgres::Error> {
    db.query_one(include_str!("upkeep/days_ahead.sql"), &[]).await?.try_get(0)
}

/// Drops at most one partition: the oldest whose every row is `retention_days` (1 to 3650) old and was relayed. It is
/// looked at without a lock first, and again under the lock, because whoever was waited for may have committed a row.
///
/// # Errors
/// Postgres refused; [`is_busy`] says whether only because somebody held the table for more than 100 ms.
pub async fn drop_relayed(
    db: &impl GenericClient,
    retention_days: i32,
) -> Result<Dropped, tokio_postgres::Error> {
    let row = db.query_one(include_str!("upkeep/drop_relayed.sql"), &[&retention_days]).await?;
    Ok(Dropped { partition: row.try_get(0)?, kept: row.try_get(1)? })
}

/// Forgets at most `rows_max` (1 to 100,000) of the parked rows that were sent `retention_days` ago, and answers how many.
///
/// # Errors
/// Postgres refused.
pub async fn forget_sent(
    db: &impl GenericClient,
    retention_days: i32,
    rows_max: i32,
) -> Result<i32, tokio_postgres::Error> {
    db.query_one(include_str!("upkeep/forget_sent.sql"), &[&retention_days, &rows_max]).await?.try_get(0)
}

/// Whether nothing is wrong but that somebody held the table for longer than is waited: it is for the next time.
pub fn is_busy(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&tokio_postgres::error::SqlState::LOCK_NOT_AVAILABLE)
}
