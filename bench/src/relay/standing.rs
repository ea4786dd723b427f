//! What the relay's own tables say. Nothing else here knows them.

use anyhow::{Context, Result};
use tokio_postgres::Client;

/// Where the relay stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Standing {
    /// One more with every takeover.
    pub(crate) fence: i64,
    /// Whether the window was left with nothing in it.
    pub(crate) is_drained: bool,
    /// Rows that the relay has recorded as acknowledged.
    pub(crate) acknowledged: u64,
    /// By so many moves of its cursor.
    pub(crate) batches: u64,
}

impl Standing {
    pub(crate) async fn read(db: &Client) -> Result<Self> {
        let row = db.query_one(include_str!("sql/standing.sql"), &[]).await;
        let row = row.context("the relay's cursor cannot be read")?;
        Ok(Self {
            fence: row.try_get("fence")?,
            is_drained: row.try_get("is_drained")?,
            acknowledged: row.try_get::<_, i64>("acknowledged")?.unsigned_abs(),
            batches: row.try_get::<_, i64>("batches")?.unsigned_abs(),
        })
    }
}

/// What the database has had to do so far.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    /// Bytes of write-ahead log.
    pub(crate) wal_bytes: u64,
    /// Row versions of the outbox's tables that wait for a vacuum. What a page cleaned by itself is not among them.
    pub(crate) dead_tuples: u64,
    /// Updates and deletes of these tables, each of which left such a version.
    pub(crate) updates: u64,
}

impl Cost {
    /// A session's counts are in once it has ended.
    pub(crate) async fn read(db: &Client) -> Result<Self> {
        let row = db.query_one(include_str!("sql/cost.sql"), &[]).await?;
        Ok(Self {
            wal_bytes: row.try_get::<_, i64>("wal_bytes")?.unsigned_abs(),
            dead_tuples: row.try_get::<_, i64>("dead_tuples")?.unsigned_abs(),
            updates: row.try_get::<_, i64>("updates")?.unsigned_abs(),
        })
    }

    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            wal_bytes: self.wal_bytes - before.wal_bytes,
            // A page that cleans itself can leave fewer than there were.
            dead_tuples: self.dead_tuples.saturating_sub(before.dead_tuples),
            updates: self.updates - before.updates,
        }
    }
}
