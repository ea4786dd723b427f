//! Why a transaction of a request did not end in a known state, and what the caller is told of it.

use waybill_publication::PublicationError;
use waybill_store::StoreError;

use crate::database::{is_conflict, leaves_commit_unknown, postgres};
use crate::problem::{Kind, Problem};

/// How often a transaction is begun when it loses against others, or when the answer to its COMMIT is lost.
pub(super) const TRANSACTION_TRIES_MAX: u32 = 3;

/// Why one try of a transaction did not end in a known state.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("a statement failed")]
    Store(#[from] StoreError),
    #[error("the command or the fact could not be written")]
    Publication(#[from] PublicationError),
    #[error("the transaction failed")]
    Postgres(#[from] tokio_postgres::Error),
    /// The answer to COMMIT was lost.
    #[error("the answer to COMMIT was lost")]
    CommitUnknown(#[source] tokio_postgres::Error),
    /// The rows do not allow what was asked for. Nothing was written.
    #[error("the request was refused")]
    Refused(Box<Problem>),
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Refused(Box::new(problem))
    }
}

impl Failure {
    /// The transaction lost against another one and was rolled back.
    pub(super) fn is_conflict(&self) -> bool {
        let postgres = match self {
            Self::Store(error) => postgres(error),
            Self::Publication(error) => error.postgres(),
            Self::Postgres(error) => Some(error),
            Self::CommitUnknown(_) | Self::Refused(_) => None,
        };
        postgres.is_some_and(is_conflict)
    }
}

impl Failure {
    /// Whether the same transaction finds out: it lost against another one, or may have been committed unheard, which it
    /// then reads under the row's lock.
    pub(super) fn may_be_begun_again(&self) -> bool {
        self.is_conflict() || matches!(self, Self::CommitUnknown(_))
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Store(error) => error.into(),
            Failure::Publication(error) => error.into(),
            Failure::Postgres(error) => error.into(),
            Failure::CommitUnknown(_) => Self::new(
                &Kind::OUTCOME_UNKNOWN,
                "The database went away while the request was being committed.",
            ),
            Failure::Refused(problem) => *problem,
        }
    }
}

/// What came of a COMMIT.
pub(super) fn committed(answer: Result<(), tokio_postgres::Error>) -> Result<(), Failure> {
    answer.map_err(|error| {
        if leaves_commit_unknown(&error) { Failure::CommitUnknown(error) } else { Failure::Postgres(error) }
    })
}
