//! What the relay's own tables say. Nothing else here knows them.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tokio_postgres::{Client, Statement};

use crate::stall::LOOK_INTERVAL;

/// How long the server may take to end the sessions of a process that is gone.
const SESSION_END_MAX: Duration = Duration::from_secs(10);

/// Where the relay stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Standing {
    /// One more with every takeover.
    pub(crate) fence: i64,
    /// Rows that the relay has recorded as acknowledged.
    pub(crate) acknowledged: u64,
    /// By so many moves of its cursor.
    pub(crate) batches: u64,
}

/// Looks again and again where the relay stands, at as little cost as it can.
#[derive(Debug)]
pub(crate) struct Look<'db> {
    db: &'db Client,
    statement: Statement,
}

impl<'db> Look<'db> {
    pub(crate) async fn prepare(db: &'db Client) -> Result<Self> {
        let statement = db.prepare(include_str!("sql/standing.sql")).await;
        Ok(Self { db, statement: statement.context("the relay's cursor cannot be read")? })
    }

    pub(crate) async fn standing(&self) -> Result<Standing> {
        let row = self.db.query_one(&self.statement, &[]).await?;
        Ok(Standing {
            fence: row.try_get("fence")?,
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
    /// Everything that the relay has cost, once its sessions have ended: only then are their counts in.
    pub(crate) async fn read_after_relay(db: &Client) -> Result<Self> {
        let asked = Instant::now();
        while db.query_one(include_str!("sql/sessions.sql"), &[]).await?.try_get::<_, i64>(0)? > 0 {
            if asked.elapsed() > SESSION_END_MAX {
                bail!("the relay's sessions have not ended within {} s", SESSION_END_MAX.as_secs());
            }
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
        Self::read(db).await
    }

    /// So far, as far as the sessions have told.
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
