//! A database without which the api still accepts exports. Nothing of it is read before its schema's version is known;
//! the databases that the api cannot do without were looked at before it began.

use std::sync::atomic::{AtomicBool, Ordering};

use deadpool_postgres::{Object, Pool, PoolError};
use waybill_store::migrations::{self, MigrationError, Schema};

/// The pool of one schema.
pub(crate) struct Versioned {
    schema: Schema,
    pool: Pool,
    is_known: AtomicBool,
}

/// Why the schema cannot be read now.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error(transparent)]
    Pool(#[from] PoolError),
    #[error(transparent)]
    Version(#[from] MigrationError),
}

impl Versioned {
    /// A pool that does not connect before it is asked to.
    pub(crate) fn new(schema: Schema, pool: Pool) -> Self {
        Self { schema, pool, is_known: AtomicBool::new(false) }
    }

    /// A connection to a schema of this version. The version is asked for until it is the known one, and not again.
    pub(crate) async fn get(&self) -> Result<Object, Unreadable> {
        let db = self.pool.get().await?;
        if !self.is_known.load(Ordering::Relaxed) {
            migrations::check(&**db, self.schema).await?;
            self.is_known.store(true, Ordering::Relaxed);
        }
        Ok(db)
    }
}
