//! What can be wrong with what an export is read from, and what is done about each fault.

use tokio_postgres::error::SqlState;
use waybill_runtime::{PoolError, codes as runtime};

use crate::attempt_error::Treatment;
use crate::codes;

/// A fault of a data set or of its database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SourceFault {
    RevisionUnreadable,
    Unknown,
    RelationMissing,
    ColumnMissing,
    ColumnChanged,
    PermissionDenied,
    QueryRefused,
    Unavailable,
    StatementTimeout,
    SnapshotCancelled,
    SnapshotTooOld,
}

impl SourceFault {
    /// What follows from it.
    pub(crate) const fn treatment(self) -> Treatment {
        match self {
            Self::RevisionUnreadable => Treatment::surroundings(
                codes::DATASET_REVISION_UNREADABLE,
                "a later version of Waybill applied it: run that version's workers",
            ),
            Self::Unknown => {
                Treatment::surroundings(runtime::SOURCE_UNKNOWN, "give the worker's configuration the source")
            }
            Self::RelationMissing => Treatment::permanent(
                codes::DATASET_RELATION_MISSING,
                "waybill dataset check says what the query does not find",
            ),
            Self::ColumnMissing => Treatment::permanent(
                codes::DATASET_COLUMN_MISSING,
                "bring the column back, or apply the data set without it and ask for a new export",
            ),
            Self::ColumnChanged => Treatment::permanent(
                codes::DATASET_COLUMN_CHANGED,
                "apply the data set again, then ask for a new export",
            ),
            Self::PermissionDenied => Treatment::permanent(
                codes::DATASET_PERMISSION_DENIED,
                "waybill dataset check says which GRANT is missing",
            ),
            Self::QueryRefused => Treatment::permanent(
                codes::DATASET_QUERY_REFUSED,
                "the SQLSTATE says why; often a view or the query computes nonsense",
            ),
            Self::Unavailable => Treatment::surroundings(
                codes::DATASET_UNAVAILABLE,
                "check the source's server, its login and what holds locks there",
            ),
            Self::StatementTimeout => Treatment::work(
                codes::DATASET_STATEMENT_TIMEOUT,
                "raise the data set's statement_timeout, or make an index on what is filtered and ordered by",
            ),
            Self::SnapshotCancelled => Treatment::work(
                codes::SNAPSHOT_CANCELLED,
                "raise max_standby_streaming_delay on the standby, or set hot_standby_feedback",
            ),
            Self::SnapshotTooOld => Treatment::work(
                codes::SNAPSHOT_TOO_OLD,
                "raise the data set's max_snapshot_age, or export less at once",
            ),
        }
    }

    /// Why there is no connection.
    pub(crate) const fn of_connecting(error: &PoolError) -> Self {
        if matches!(error, PoolError::SourceUnknown { .. }) { Self::Unknown } else { Self::Unavailable }
    }

    /// What an SQLSTATE means; none means that there was no answer at all.
    pub(crate) fn of_state(state: Option<&SqlState>) -> Self {
        let Some(state) = state else { return Self::Unavailable };
        let known = [
            (SqlState::UNDEFINED_TABLE, Self::RelationMissing),
            (SqlState::INVALID_SCHEMA_NAME, Self::RelationMissing),
            (SqlState::UNDEFINED_COLUMN, Self::ColumnMissing),
            (SqlState::INSUFFICIENT_PRIVILEGE, Self::PermissionDenied),
            (SqlState::QUERY_CANCELED, Self::StatementTimeout),
            // Whoever only reads meets these two on a standby, whose replay had to go on (PostgreSQL, section 27.4.2).
            (SqlState::T_R_SERIALIZATION_FAILURE, Self::SnapshotCancelled),
            (SqlState::T_R_DEADLOCK_DETECTED, Self::SnapshotCancelled),
        ];
        if let Some((_, fault)) = known.into_iter().find(|(known, _)| known == state) {
            return fault;
        }
        // Classes: 0A not supported, 22 a value, 23 a constraint, 42 syntax and names. All others (connection, resources,
        // locks, an operator's hand, and whatever Postgres invents next) may pass, and the lifecycle bounds the tries.
        match state.code().get(..2) {
            Some("0A" | "22" | "23" | "42") => Self::QueryRefused,
            _ => Self::Unavailable,
        }
    }
}

#[cfg(test)]
mod tests {
    use waybill_domain::job::Suspect;

    use super::*;
    use crate::attempt_error::Verdict;

    fn of(state: &str) -> SourceFault {
        SourceFault::of_state(Some(&SqlState::from_code(state)))
    }

    #[test]
    fn what_an_operator_must_repair_is_not_tried_again() {
        for (state, fault) in [
            ("42P01", SourceFault::RelationMissing),
            ("3F000", SourceFault::RelationMissing),
            ("42703", SourceFault::ColumnMissing),
            ("42501", SourceFault::PermissionDenied),
            ("22P02", SourceFault::QueryRefused),
            ("42883", SourceFault::QueryRefused),
        ] {
            assert_eq!(of(state), fault, "{state}");
            assert_eq!(fault.treatment().verdict, Verdict::Permanent, "{state}");
        }
    }

    #[test]
    fn what_may_pass_is_tried_again() {
        // No lock in time, no disk, server stopping, connection lost, one never heard of.
        for state in ["55P03", "53100", "57P01", "08006", "ZZ999"] {
            assert_eq!(of(state), SourceFault::Unavailable, "{state}");
        }
        assert_eq!(SourceFault::of_state(None), SourceFault::Unavailable);
        let verdict = SourceFault::Unavailable.treatment().verdict;
        assert_eq!(verdict, Verdict::Transient(Suspect::Surroundings));
    }

    #[test]
    fn a_snapshot_that_a_standby_cancelled_is_tried_again_a_few_times() {
        for state in ["40001", "40P01"] {
            assert_eq!(of(state), SourceFault::SnapshotCancelled, "{state}");
        }
        for fault in [SourceFault::SnapshotCancelled, SourceFault::SnapshotTooOld, of("57014")] {
            assert_eq!(fault.treatment().verdict, Verdict::Transient(Suspect::Work), "{fault:?}");
        }
    }
}
