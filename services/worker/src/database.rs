//! What can go wrong in a transaction on the database of exports, in one type.

use deadpool_postgres::PoolError;
use waybill_publication::PublicationError;
use waybill_store::{StoreError, is_passing};

/// Why a transaction on the database of exports did not commit, or may not have.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// There was no connection to be had in time.
    #[error("no connection to the database of exports")]
    Pool(#[from] PoolError),
    /// Postgres refused a statement, or the connection broke off. Of a COMMIT nobody then knows whether it happened.
    #[error("postgres")]
    Postgres(#[from] tokio_postgres::Error),
    /// A statement of the store failed.
    #[error("a stored row")]
    Store(#[from] StoreError),
    /// The fact could not be written to the outbox.
    #[error("the outbox")]
    Publication(#[from] PublicationError),
}

impl DatabaseError {
    /// Whether the same transaction may be taken later: the database is away, starting, stopping, full, read-only or
    /// busy.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            // Nothing was asked of the database yet, so nothing was refused: it may not even let anybody in.
            Self::Pool(PoolError::Timeout(_) | PoolError::Backend(_) | PoolError::PostCreateHook(_)) => true,
            Self::Pool(PoolError::Closed | PoolError::NoRuntimeSpecified) => false,
            Self::Postgres(error) | Self::Store(StoreError::Postgres(error)) => is_passing(error),
            Self::Store(StoreError::Decode { .. }) => false,
            Self::Publication(error) => error.postgres().is_some_and(is_passing),
        }
    }
}
