//! What can go wrong in a transaction on the database of exports, in one type.

use deadpool_postgres::PoolError;
use tokio_postgres::error::SqlState;
use waybill_publication::PublicationError;
use waybill_store::StoreError;

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
            Self::Postgres(error) | Self::Store(StoreError::Postgres(error)) => passes(error.code()),
            Self::Store(StoreError::Decode { .. }) => false,
            Self::Publication(error) => error.postgres().is_some_and(|error| passes(error.code())),
        }
    }
}

/// Whether the reason with this SQLSTATE may pass; none means that there was no answer at all.
fn passes(state: Option<&SqlState>) -> bool {
    let Some(state) = state else { return true };
    // Classes of appendix A: connection exceptions, transaction rollbacks (serialization, deadlock), insufficient
    // resources, operator intervention.
    ["08", "40", "53", "57"].iter().any(|class| state.code().starts_with(class))
        || *state == SqlState::READ_ONLY_SQL_TRANSACTION
        || *state == SqlState::LOCK_NOT_AVAILABLE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_passes_and_a_refusal_does_not() {
        assert!(passes(None));
        // Shutdown, starting up, connection lost, too many connections, disk full, failed over to a standby, deadlock.
        for state in ["57P01", "57P03", "08006", "53300", "53100", "25006", "40P01"] {
            assert!(passes(Some(&SqlState::from_code(state))), "{state}");
        }
        for state in ["23505", "42501", "42P01", "22001"] {
            assert!(!passes(Some(&SqlState::from_code(state))), "{state}");
        }
    }
}
