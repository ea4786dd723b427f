//! What a failure of Postgres is to a caller, and which failures are worth another try.

use std::error::Error as StdError;

use deadpool_postgres::{PoolError, TimeoutType};
use tokio_postgres::error::{DbError, Severity, SqlState};
use waybill_outbox::parked::ParkedError;
use waybill_publication::PublicationError;
use waybill_runtime::chain;
use waybill_store::{StoreError, is_passing};

use crate::problem::{Kind, Problem};
use crate::versioned::Unreadable;

impl From<PoolError> for Problem {
    fn from(error: PoolError) -> Self {
        match &error {
            PoolError::Timeout(TimeoutType::Wait) => {
                tracing::warn!(code = Kind::OVERLOADED.code, "every database connection is in use");
                Self::new(&Kind::OVERLOADED, "Every database connection of this process is in use.")
            }
            PoolError::Timeout(TimeoutType::Create | TimeoutType::Recycle)
            | PoolError::Backend(_)
            | PoolError::PostCreateHook(_) => unavailable(&error),
            PoolError::Closed | PoolError::NoRuntimeSpecified => Self::internal(&error),
        }
    }
}

impl From<Unreadable> for Problem {
    fn from(error: Unreadable) -> Self {
        match error {
            Unreadable::Pool(error) => error.into(),
            // Passing, too: somebody migrates the database, or runs the version of Waybill that it is of.
            Unreadable::Version(error) => unavailable(&error),
        }
    }
}

impl From<tokio_postgres::Error> for Problem {
    fn from(error: tokio_postgres::Error) -> Self {
        of(&error, Some(&error))
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        of(&error, postgres(&error))
    }
}

impl From<ParkedError> for Problem {
    fn from(error: ParkedError) -> Self {
        match &error {
            ParkedError::Database(cause) => of(&error, Some(cause)),
            ParkedError::Unknown { .. } => Self::internal(&error),
        }
    }
}

impl From<waybill_operator::Error> for Problem {
    fn from(error: waybill_operator::Error) -> Self {
        match error {
            waybill_operator::Error::Refused(refusal) => refusal.into(),
            waybill_operator::Error::Outbox(error) => error.into(),
            waybill_operator::Error::CursorMissing => Self::internal(&error),
        }
    }
}

impl From<PublicationError> for Problem {
    fn from(error: PublicationError) -> Self {
        of(&error, error.postgres())
    }
}

fn of(error: &(dyn StdError + 'static), postgres: Option<&tokio_postgres::Error>) -> Problem {
    if postgres.is_some_and(is_passing) { unavailable(error) } else { Problem::internal(error) }
}

/// Postgres' own error behind one of the store.
pub(crate) fn postgres(error: &StoreError) -> Option<&tokio_postgres::Error> {
    match error {
        StoreError::Postgres(error) => Some(error),
        StoreError::Decode { .. } => None,
    }
}

fn unavailable(error: &(dyn StdError + 'static)) -> Problem {
    tracing::warn!(code = Kind::DATABASE_UNAVAILABLE.code, error = %chain(error), "the database failed a request");
    Problem::new(&Kind::DATABASE_UNAVAILABLE, "The database did not answer, or does not take writes now.")
}

/// Whether the transaction lost against another one and may simply be run again.
pub(crate) fn is_conflict(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|code| {
        *code == SqlState::T_R_SERIALIZATION_FAILURE || *code == SqlState::T_R_DEADLOCK_DETECTED
    })
}

/// Whether a COMMIT that failed like this may have been carried out all the same: only an ordinary ERROR of the
/// server says that it was not.
pub(crate) fn leaves_commit_unknown(error: &tokio_postgres::Error) -> bool {
    error.as_db_error().and_then(DbError::parsed_severity) != Some(Severity::Error)
}
