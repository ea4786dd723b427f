//! What can go wrong with a conversion, and the code of each.

use std::fmt;

use crate::codes;

/// Why a file of these columns cannot be made. Known before any row is read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", list(.problems))]
pub struct PlanError {
    problems: Vec<Problem>,
}

impl PlanError {
    pub(crate) fn new(problems: Vec<Problem>) -> Self {
        Self { problems }
    }

    /// Everything that is wrong, at least one.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

/// One thing that is wrong with a wish for a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The column that is meant; `None` for the file as a whole.
    pub column: Option<String>,
    /// What is wrong: it names the column's type and the format.
    pub problem: String,
    /// What to choose instead.
    pub instead: String,
}

impl Problem {
    /// The code, with a page in `docs/errors`.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self.column {
            Some(_) => codes::COLUMN_NOT_EXPORTABLE,
            None => codes::FORMAT_OPTION_INVALID,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(column) = &self.column {
            write!(f, "column {column}: ")?;
        }
        write!(f, "{}; {}", self.problem, self.instead)
    }
}

fn list(problems: &[Problem]) -> String {
    problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("; ")
}

/// Why a file could not be written to its end. None of it ever quotes a value.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// A value that the column's type in the file cannot hold exactly.
    #[error("row {row}, column {column}: {problem}")]
    Value {
        /// The number of the row in the file, from 1.
        row: u64,
        /// The column.
        column: String,
        /// What is wrong with the value.
        problem: &'static str,
    },
    /// A value that is not of its column's type, as COPY writes it.
    #[error("row {row}, column {column}: {problem}")]
    MalformedValue {
        /// The number of the row in the file, from 1.
        row: u64,
        /// The column.
        column: String,
        /// What is wrong with the bytes.
        problem: &'static str,
    },
    /// Something between the values that COPY does not write.
    #[error("after row {rows} the stream of rows is not what COPY writes: {problem}")]
    MalformedStream {
        /// The whole rows before it.
        rows: u64,
        /// What is wrong with the bytes.
        problem: &'static str,
    },
    /// The rows ended in the middle.
    #[error("the stream of rows ended after row {rows}: {problem}")]
    CutStream {
        /// The whole rows before its end.
        rows: u64,
        /// What is missing.
        problem: &'static str,
    },
    /// The server sent another number of rows.
    #[error("the server sent {sent} rows, the file has {written}")]
    RowsDiffer {
        /// The rows that the server says it sent.
        sent: u64,
        /// The rows in the file.
        written: u64,
    },
    /// The writer of Parquet refused.
    #[error("the Parquet file could not be written")]
    Parquet(#[from] parquet::errors::ParquetError),
    /// The compressor refused.
    #[error("the file could not be compressed")]
    Compression(#[from] std::io::Error),
    /// The footer would be longer than what is read back.
    #[error("the footer of the Parquet file has {bytes} B, more than a reader back takes")]
    FooterTooLong {
        /// Its length.
        bytes: usize,
    },
    /// Somebody went on with an encoder that had failed.
    #[error("an earlier piece of these rows could not be written")]
    Broken,
}

impl EncodeError {
    /// The code, with a page in `docs/errors`.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Value { .. } => codes::VALUE_NOT_EXPORTABLE,
            Self::MalformedValue { .. } | Self::MalformedStream { .. } => codes::COPY_STREAM_MALFORMED,
            Self::CutStream { .. } => codes::COPY_STREAM_CUT,
            Self::RowsDiffer { .. } => codes::ROWS_DIFFER,
            Self::Parquet(_) | Self::Compression(_) | Self::FooterTooLong { .. } | Self::Broken => {
                codes::FILE_NOT_WRITTEN
            }
        }
    }
}

/// Why a file that is read back is not what an encoder wrote.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadBackError {
    /// The compression does not end where it has to, or its checksum differs.
    #[error("the file's compression is broken")]
    Compression(#[source] std::io::Error),
    /// The file ends where no file of its format ends.
    #[error("the file is cut: {problem}")]
    Cut {
        /// What is missing.
        problem: &'static str,
    },
    /// The footer of a Parquet file cannot be read.
    #[error("the footer of the Parquet file cannot be read")]
    Footer(#[source] parquet::errors::ParquetError),
}

impl ReadBackError {
    /// The code, with a page in `docs/errors`.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        codes::FILE_UNREADABLE
    }
}
