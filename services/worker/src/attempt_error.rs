//! Why an attempt ended without a result, and what is done about each reason.

use waybill_domain::job::Suspect;
use waybill_formats::{EncodeError, PlanError, ReadBackError, codes as formats};
use waybill_runtime::{PoolError, chain};

use crate::codes;
use crate::database::DatabaseError;
use crate::source_fault::SourceFault;

/// What ended an attempt.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AttemptError {
    #[error("revision {revision} of data set {dataset} cannot be read")]
    RevisionUnreadable {
        dataset: String,
        revision: i64,
        #[source]
        source: Option<serde_json::Error>,
    },
    #[error("the data set's database could not be reached")]
    Unconnected(#[source] PoolError),
    #[error("the data set's database refused the query or broke off")]
    Source(#[source] tokio_postgres::Error),
    #[error("the data set's rows have no column {column} any more")]
    ColumnMissing { column: String },
    #[error("column {column} was {before} when the data set was applied, and is {now}")]
    ColumnChanged { column: String, before: String, now: String },
    #[error("the rows were not read within {seconds} s, the data set's max_snapshot_age")]
    SnapshotTooOld { seconds: i64 },
    #[error("the data set's database does not say where in its log the snapshot stands")]
    SnapshotUnplaced,
    #[error("the file cannot be made of these columns")]
    Plan(#[source] PlanError),
    #[error("the file could not be made")]
    Encode(#[source] EncodeError),
    #[error("the server did not say how many rows it sent")]
    RowsUntold,
    #[error("the object store failed")]
    Objects(#[source] object_store::Error),
    #[error("the object read back differs from what was written in its {what}")]
    ObjectDiffers { what: &'static str },
    #[error("the object read back is no whole file")]
    ReadBack(#[source] ReadBackError),
    #[error("the database of exports failed")]
    Database(#[from] DatabaseError),
    #[error("the attempt took longer than any may")]
    DeadlineExceeded,
    #[error("the worker ran into a fault of its own: its log says where")]
    Panicked,
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
    Source(SourceFault),
    ColumnNotExportable,
    ValueNotExportable,
    CopyStreamMalformed,
    CopyStreamCut,
    RowsDiffer,
    FileNotWritten,
    FileUnreadable,
    ObjectStoreUnavailable,
    ObjectDiffers,
    ExportDatabaseUnavailable,
    DeadlineExceeded,
    Panicked,
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

impl Treatment {
    /// Of what will not pass.
    pub(crate) const fn permanent(code: &'static str, hint: &'static str) -> Self {
        Self { verdict: Verdict::Permanent, code, hint }
    }

    /// Of what may pass and says nothing against the job.
    pub(crate) const fn surroundings(code: &'static str, hint: &'static str) -> Self {
        Self { verdict: Verdict::Transient(Suspect::Surroundings), code, hint }
    }

    /// Of what may pass and may be the job's own doing.
    pub(crate) const fn work(code: &'static str, hint: &'static str) -> Self {
        Self { verdict: Verdict::Transient(Suspect::Work), code, hint }
    }
}

impl ErrorKind {
    /// What follows from this kind.
    pub(crate) const fn treatment(self) -> Treatment {
        match self {
            Self::Source(fault) => fault.treatment(),
            Self::ColumnNotExportable => Treatment::permanent(
                formats::COLUMN_NOT_EXPORTABLE,
                "apply the data set again, then ask for a new export",
            ),
            Self::ValueNotExportable => Treatment::permanent(
                formats::VALUE_NOT_EXPORTABLE,
                "export the column as text, or in another format",
            ),
            Self::CopyStreamMalformed => Treatment::work(
                formats::COPY_STREAM_MALFORMED,
                "something between the worker and the server changes what it sends",
            ),
            Self::CopyStreamCut => {
                Treatment::surroundings(formats::COPY_STREAM_CUT, "look into the log of the source's server")
            }
            Self::RowsDiffer => Treatment::work(
                formats::ROWS_DIFFER,
                "report it: the file was made from other rows than were sent",
            ),
            Self::FileNotWritten => {
                Treatment::work(formats::FILE_NOT_WRITTEN, "the causes say what refused, and why")
            }
            Self::FileUnreadable => Treatment::work(
                formats::FILE_UNREADABLE,
                "report it: the store has what was written, and that is no whole file",
            ),
            Self::ObjectStoreUnavailable => Treatment::surroundings(
                codes::OBJECT_STORE_UNAVAILABLE,
                "check the store of [object_store]: reachable, writable, not full",
            ),
            Self::ObjectDiffers => Treatment::work(
                codes::OBJECT_DIFFERS,
                "the store gave back other bytes than it took: check its disk",
            ),
            Self::ExportDatabaseUnavailable => Treatment::surroundings(
                codes::EXPORT_DATABASE_UNAVAILABLE,
                "check the server of [database.export]",
            ),
            Self::DeadlineExceeded => Treatment::work(
                codes::ATTEMPT_DEADLINE_EXCEEDED,
                "export less at once, or from a faster source",
            ),
            Self::Panicked => Treatment::work(
                codes::ATTEMPT_PANICKED,
                "report it, with the panic that the worker's log has just before this line",
            ),
            Self::LeaseLost => Treatment::surroundings(
                codes::LEASE_LOST,
                "[worker] lease_ms must be longer than the database's outages",
            ),
            Self::Stopped => Treatment {
                verdict: Verdict::HandBack,
                code: codes::WORKER_STOPPED,
                hint: "none is needed: another worker takes it",
            },
            Self::Fenced => Treatment {
                verdict: Verdict::Fenced,
                code: codes::ATTEMPT_FENCED,
                hint: "none is needed: the result of another attempt counts",
            },
        }
    }
}

impl AttemptError {
    /// The kind of this error.
    pub(crate) fn kind(&self) -> ErrorKind {
        match self {
            Self::RevisionUnreadable { .. } => ErrorKind::Source(SourceFault::RevisionUnreadable),
            Self::Unconnected(error) => ErrorKind::Source(SourceFault::of_connecting(error)),
            Self::Source(error) => ErrorKind::Source(SourceFault::of_state(error.code())),
            Self::ColumnMissing { .. } => ErrorKind::Source(SourceFault::ColumnMissing),
            Self::ColumnChanged { .. } => ErrorKind::Source(SourceFault::ColumnChanged),
            Self::SnapshotTooOld { .. } => ErrorKind::Source(SourceFault::SnapshotTooOld),
            Self::SnapshotUnplaced => ErrorKind::Source(SourceFault::Unavailable),
            Self::Plan(_) => ErrorKind::ColumnNotExportable,
            Self::Encode(error) => encoding_kind(error),
            Self::RowsUntold => ErrorKind::CopyStreamCut,
            Self::Objects(_) => ErrorKind::ObjectStoreUnavailable,
            Self::ObjectDiffers { .. } => ErrorKind::ObjectDiffers,
            Self::ReadBack(_) => ErrorKind::FileUnreadable,
            Self::Database(_) => ErrorKind::ExportDatabaseUnavailable,
            Self::DeadlineExceeded => ErrorKind::DeadlineExceeded,
            Self::Panicked => ErrorKind::Panicked,
            Self::Stopped => ErrorKind::Stopped,
            Self::Fenced => ErrorKind::Fenced,
            Self::LeaseLost => ErrorKind::LeaseLost,
        }
    }

    /// What an operator may read: the error and its causes. Of the data set's database only the SQLSTATE, and its
    /// message only where it can speak of names alone (class 42) or of the standby's own replay (class 40); others may
    /// quote a value from the data set.
    pub(crate) fn detail(&self) -> String {
        let Self::Source(error) = self else { return chain(self) };
        match error.as_db_error() {
            Some(refusal) if ["40", "42"].iter().any(|class| refusal.code().code().starts_with(class)) => {
                format!("SQLSTATE {}: {}", refusal.code().code(), refusal.message())
            }
            Some(refusal) => format!("SQLSTATE {}", refusal.code().code()),
            None => "the connection to the data set's database broke off".to_owned(),
        }
    }
}

const fn encoding_kind(error: &EncodeError) -> ErrorKind {
    match error {
        EncodeError::Value { .. } => ErrorKind::ValueNotExportable,
        EncodeError::MalformedValue { .. } | EncodeError::MalformedStream { .. } => {
            ErrorKind::CopyStreamMalformed
        }
        EncodeError::CutStream { .. } => ErrorKind::CopyStreamCut,
        EncodeError::RowsDiffer { .. } => ErrorKind::RowsDiffer,
        EncodeError::Parquet(_)
        | EncodeError::Compression(_)
        | EncodeError::FooterTooLong { .. }
        | EncodeError::Broken => ErrorKind::FileNotWritten,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_outlasted_and_what_the_data_is_suspected_of_is_not() {
        for kind in [
            ErrorKind::Source(SourceFault::Unavailable),
            ErrorKind::CopyStreamCut,
            ErrorKind::ObjectStoreUnavailable,
            ErrorKind::ExportDatabaseUnavailable,
            ErrorKind::LeaseLost,
        ] {
            assert_eq!(kind.treatment().verdict, Verdict::Transient(Suspect::Surroundings), "{kind:?}");
        }
        for kind in [
            ErrorKind::RowsDiffer,
            ErrorKind::ObjectDiffers,
            ErrorKind::DeadlineExceeded,
            ErrorKind::Panicked,
        ] {
            assert_eq!(kind.treatment().verdict, Verdict::Transient(Suspect::Work), "{kind:?}");
        }
    }

    #[test]
    fn what_a_file_cannot_hold_fails_at_once_and_what_was_cut_on_its_way_does_not() {
        let value = EncodeError::Value { row: 7, column: "amount".to_owned(), problem: "is NaN" };
        assert_eq!(AttemptError::Encode(value).kind().treatment().verdict, Verdict::Permanent);
        let cut = AttemptError::Encode(EncodeError::CutStream { rows: 7, problem: "no trailer" });
        assert_eq!(cut.kind(), ErrorKind::CopyStreamCut);
        assert_eq!(AttemptError::RowsUntold.kind(), ErrorKind::CopyStreamCut);
    }

    #[test]
    fn a_detail_has_every_cause() {
        let error = AttemptError::Encode(EncodeError::RowsDiffer { sent: 3, written: 2 });
        assert_eq!(error.detail(), "the file could not be made: the server sent 3 rows, the file has 2");
    }
}
