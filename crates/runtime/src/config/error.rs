use std::fmt;
use std::path::PathBuf;

use crate::codes;

/// Why a configuration is refused. Each names the key and, where the value came from a file, its place there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file that was asked for cannot be read.
    #[error("cannot read the configuration {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is no TOML, or a value has another type than its key.
    #[error("{place}: {message}")]
    Invalid {
        /// Where the value came from.
        place: Place,
        /// What is wrong with it.
        message: String,
    },
    /// A key that no version of Waybill up to this one knows.
    #[error("{place}: unknown key `{key}`{}", nearest.as_ref().map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default())]
    UnknownKey {
        /// Where the key stands.
        place: Place,
        /// The key, as written.
        key: String,
        /// The valid key that looks most like it.
        nearest: Option<String>,
    },
    /// Two values that cannot both be meant.
    #[error("`{first}` ({first_value}) must be {relation} `{second}` ({second_value}): {reason}")]
    Contradiction {
        /// The key whose value breaks the relation.
        first: &'static str,
        /// Its value.
        first_value: String,
        /// `less than`, `at least`, …
        relation: &'static str,
        /// The other key or bound.
        second: &'static str,
        /// Its value.
        second_value: String,
        /// What would go wrong.
        reason: &'static str,
    },
    /// A secret is given twice.
    #[error("`{key}` and `{key}_file` are both set; keep one")]
    SecretTwice {
        /// The key of the value.
        key: &'static str,
    },
    /// The file of a secret cannot be read.
    #[error("cannot read {}, the value of `{key}`", path.display())]
    SecretFile {
        /// The key that names the file.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl ConfigError {
    /// The slug of this error: the log's, the exit message's and the page's.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => codes::CONFIG_UNREADABLE,
            Self::Invalid { .. } => codes::CONFIG_INVALID_VALUE,
            Self::UnknownKey { .. } => codes::CONFIG_UNKNOWN_KEY,
            Self::Contradiction { .. } => codes::CONFIG_CONTRADICTION,
            Self::SecretTwice { .. } | Self::SecretFile { .. } => codes::CONFIG_SECRET_UNREADABLE,
        }
    }
}

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A file, a line and a column, both counted from 1.
    File {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// The column.
        column: usize,
    },
    /// A variable of the environment.
    Variable(String),
}

impl Place {
    /// The place of a byte of a text.
    pub(super) fn in_file(path: &std::path::Path, text: &str, byte: usize) -> Self {
        let before = text.get(..byte).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        Self::File {
            path: path.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, line, column } => write!(f, "{}:{line}:{column}", path.display()),
            Self::Variable(name) => write!(f, "environment variable {name}"),
        }
    }
}
