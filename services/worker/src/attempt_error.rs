//! Why an attempt ended without a result, and what is done about each reason.

use deadpool_postgres::PoolError;
use tokio_postgres::error::SqlState;
use waybill_domain::job::Suspect;
use waybill_runtime::chain;

use crate::codes;
use crate::database::DatabaseError;
use crate::dataset::READ_STALL_MAX_SECONDS;

/// What ended an attempt.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AttemptError {
    #[error("data set {dataset} is not registered")]
    DatasetUnregistered { dataset: String },
    #[error("column {column} is not among the registered columns of data set {dataset}")]
    ColumnUnregistered { dataset: String, column: String },
    #[error("the data set's database could not be reached")]
    DatasetPool(#[source] PoolError),
    #[error("the data set's database refused the query or broke off")]
    Dataset(#[source] tokio_postgres::Error),
    #[error("the data set's database gave nothing for {READ_STALL_MAX_SECONDS} s")]
    DatasetStalled,
    #[error("the object store failed")]
    Objects(#[source] object_store::Error),
    #[error("the object read back differs from what was written in its {what}")]
    ObjectDiffers { what: &'static str },
    #[error("the snapshot has {counted} rows, the file {written}")]
    RowsDiffer { counted: i64, written: i64 },
    #[error("the database of exports failed")]
    Database(#[from] DatabaseError),
    #[error("the attempt took longer than any may")]
    DeadlineExceeded,
    #[error("the worker was told to stop")]
    Stopped,
    #[error("another generation, or an end, came in between")]
    Fenced,
    #[error("the lease ran out before it could be renewed")]
    LeaseLost,
}

/// What kind of reason it was. The kind decides everything that follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    DatasetUnregistered,
    DatasetRelationMissing,
    DatasetColumnMissing,
    DatasetPermissionDenied,
    DatasetQueryRefused,
    DatasetUnavailable,
    DatasetStalled,
    ObjectStoreUnavailable,
    ObjectDiffers,
    RowsDiffer,
    ExportDatabaseUnavailable,
    DeadlineExceeded,
    Stopped,
    Fenced,
    LeaseLost,
}

/// Whether trying again can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The reason may pass: the job becomes pending again, within the bound that the lifecycle has for the suspect.
    Transient(Suspect),
    /// It will not: the job fails.
    Permanent,
    /// Nothing failed: the job is handed back, due at once, and none of its tries is used up.
    HandBack,
    /// The job is somebody else's by now: write nothing about it.
    Fenced,
}

/// What follows from a kind of error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Treatment {
    /// Whether trying again can help.
    pub(crate) verdict: Verdict,
    /// The code, with a page in `docs/errors`.
    pub(crate) code: &'static str,
    /// What the operator should look at.
    pub(crate) hint: &'static str,
}

impl ErrorKind {
    /// What follows from this kind.
    pub(crate) fn treatment(self) -> Treatment {
        let (code, hint) = match self {
            Self::DatasetUnregistered => {
                (codes::DATASET_UNREGISTERED, "register the data set again and ask for a new export")
            }
            Self::DatasetRelationMissing => (
                codes::DATASET_RELATION_MISSING,
                "the registered schema and relation must exist in the database of [database.dataset]",
            ),
            Self::DatasetColumnMissing => {
                (codes::DATASET_COLUMN_MISSING, "the relation no longer has a column that is registered")
            }
            Self::DatasetPermissionDenied => (
                codes::DATASET_PERMISSION_DENIED,
                "grant the worker's database user USAGE on the schema and SELECT on the relation",
            ),
            Self::DatasetQueryRefused => (
                codes::DATASET_QUERY_REFUSED,
                "the SQLSTATE says why; often the tenant column is not of a text type or a view computes nonsense",
            ),
            Self::DatasetUnavailable => (
                codes::DATASET_UNAVAILABLE,
                "check the server of [database.dataset], its credential and its locks",
            ),
            Self::DatasetStalled => (
                codes::DATASET_STALLED,
                "an index on the tenant column and the key columns lets rows come without a sort",
            ),
            Self::ObjectStoreUnavailable => (
                codes::OBJECT_STORE_UNAVAILABLE,
                "check the store of [object_store]: reachable, writable, not full",
            ),
            Self::ObjectDiffers => {
                (codes::OBJECT_DIFFERS, "the store gave back other bytes than it took: check its disk")
            }
            Self::RowsDiffer => {
                (codes::ROWS_DIFFER, "a volatile view, or a key that repeats rows, cannot be exported")
            }
            Self::ExportDatabaseUnavailable => {
                (codes::EXPORT_DATABASE_UNAVAILABLE, "check the server of [database.export]")
            }
            Self::DeadlineExceeded => {
                (codes::ATTEMPT_DEADLINE_EXCEEDED, "export less at once, or from a faster source")
            }
            Self::Stopped => (codes::WORKER_STOPPED, "none is needed: another worker takes it"),
            Self::Fenced => (codes::ATTEMPT_FENCED, "none is needed: the result of another attempt counts"),
            Self::LeaseLost => {
                (codes::LEASE_LOST, "[worker] lease_ms must be longer than the database's outages")
            }
        };
        Treatment { verdict: self.verdict(), code, hint }
    }

    /// Whether trying again can help.
    fn verdict(self) -> Verdict {
        match self {
            Self::DatasetUnregistered
            | Self::DatasetRelationMissing
            | Self::DatasetColumnMissing
            | Self::DatasetPermissionDenied
            | Self::DatasetQueryRefused => Verdict::Permanent,
            Self::DatasetUnavailable
            | Self::DatasetStalled
            | Self::ObjectStoreUnavailable
            | Self::ExportDatabaseUnavailable
            | Self::LeaseLost => Verdict::Transient(Suspect::Surroundings),
            Self::ObjectDiffers | Self::RowsDiffer | Self::DeadlineExceeded => {
                Verdict::Transient(Suspect::Work)
            }
            Self::Stopped => Verdict::HandBack,
            Self::Fenced => Verdict::Fenced,
        }
    }
}

impl AttemptError {
    /// The kind of this error.
    pub(crate) fn kind(&self) -> ErrorKind {
        match self {
            Self::DatasetUnregistered { .. } => ErrorKind::DatasetUnregistered,
            Self::ColumnUnregistered { .. } => ErrorKind::DatasetColumnMissing,
            Self::DatasetPool(_) => ErrorKind::DatasetUnavailable,
            Self::Dataset(error) => dataset_kind(error.code()),
            Self::DatasetStalled => ErrorKind::DatasetStalled,
            Self::Objects(_) => ErrorKind::ObjectStoreUnavailable,
            Self::ObjectDiffers { .. } => ErrorKind::ObjectDiffers,
            Self::RowsDiffer { .. } => ErrorKind::RowsDiffer,
            Self::Database(_) => ErrorKind::ExportDatabaseUnavailable,
            Self::DeadlineExceeded => ErrorKind::DeadlineExceeded,
            Self::Stopped => ErrorKind::Stopped,
            Self::Fenced => ErrorKind::Fenced,
            Self::LeaseLost => ErrorKind::LeaseLost,
        }
    }

    /// What an operator may read: the error and its causes. Of the data set's database only the SQLSTATE, and its
    /// message only where it can speak of names alone (class 42); others may quote a value from the data set.
    pub(crate) fn detail(&self) -> String {
        let Self::Dataset(error) = self else { return chain(self) };
        match error.as_db_error() {
            Some(refusal) if refusal.code().code().starts_with("42") => {
                format!("SQLSTATE {}: {}", refusal.code().code(), refusal.message())
            }
            Some(refusal) => format!("SQLSTATE {}", refusal.code().code()),
            None => "the connection to the data set's database broke off".to_owned(),
        }
    }
}

/// What an SQLSTATE of the data set's database means; none means that there was no answer at all.
fn dataset_kind(state: Option<&SqlState>) -> ErrorKind {
    let Some(state) = state else { return ErrorKind::DatasetUnavailable };
    if *state == SqlState::UNDEFINED_TABLE || *state == SqlState::INVALID_SCHEMA_NAME {
        return ErrorKind::DatasetRelationMissing;
    }
    if *state == SqlState::UNDEFINED_COLUMN {
        return ErrorKind::DatasetColumnMissing;
    }
    if *state == SqlState::INSUFFICIENT_PRIVILEGE {
        return ErrorKind::DatasetPermissionDenied;
    }
    // Classes: 0A not supported, 22 a value, 23 a constraint, 42 syntax and names. All others (connection, resources,
    // locks, an operator's hand, and whatever Postgres invents next) may pass, and the lifecycle bounds the tries.
    match state.code().get(..2) {
        Some("0A" | "22" | "23" | "42") => ErrorKind::DatasetQueryRefused,
        _ => ErrorKind::DatasetUnavailable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(state: &str) -> ErrorKind {
        dataset_kind(Some(&SqlState::from_code(state)))
    }

    #[test]
    fn what_an_operator_must_repair_is_not_tried_again() {
        for (state, kind) in [
            ("42P01", ErrorKind::DatasetRelationMissing),
            ("3F000", ErrorKind::DatasetRelationMissing),
            ("42703", ErrorKind::DatasetColumnMissing),
            ("42501", ErrorKind::DatasetPermissionDenied),
            ("22P02", ErrorKind::DatasetQueryRefused),
            ("42883", ErrorKind::DatasetQueryRefused),
        ] {
            assert_eq!(kind_of(state), kind, "{state}");
            assert_eq!(kind.treatment().verdict, Verdict::Permanent, "{state}");
        }
    }

    #[test]
    fn what_may_pass_is_tried_again() {
        // Deadlock, serialization, no lock in time, no disk, server stopping, connection lost, one never heard of.
        for state in ["40P01", "40001", "55P03", "53100", "57P01", "08006", "ZZ999"] {
            assert_eq!(kind_of(state), ErrorKind::DatasetUnavailable, "{state}");
        }
        assert_eq!(dataset_kind(None), ErrorKind::DatasetUnavailable);
        let verdict = ErrorKind::DatasetUnavailable.treatment().verdict;
        assert_eq!(verdict, Verdict::Transient(Suspect::Surroundings));
    }

    #[test]
    fn an_outage_is_outlasted_and_what_the_data_is_suspected_of_is_not() {
        for kind in [
            ErrorKind::DatasetUnavailable,
            ErrorKind::DatasetStalled,
            ErrorKind::ObjectStoreUnavailable,
            ErrorKind::ExportDatabaseUnavailable,
            ErrorKind::LeaseLost,
        ] {
            assert_eq!(kind.treatment().verdict, Verdict::Transient(Suspect::Surroundings), "{kind:?}");
        }
        for kind in [ErrorKind::RowsDiffer, ErrorKind::ObjectDiffers, ErrorKind::DeadlineExceeded] {
            assert_eq!(kind.treatment().verdict, Verdict::Transient(Suspect::Work), "{kind:?}");
        }
    }

    #[test]
    fn a_value_of_the_data_set_never_gets_into_a_detail() {
        let error = AttemptError::RowsDiffer { counted: 3, written: 2 };
        assert_eq!(error.detail(), "the snapshot has 3 rows, the file 2");
    }
}
