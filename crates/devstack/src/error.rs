//! Why the dev stack could not do what it was asked to.

use std::io;
use std::path::{Path, PathBuf};

/// Why the dev stack could not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum DevstackError {
    /// A file, folder or socket refused.
    #[error("cannot {what} {}", path.display())]
    Io {
        /// What was tried, as a verb.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A program that the stack needs is not there.
    #[error("{program} is not installed: {remedy}")]
    Missing {
        /// What is missing.
        program: &'static str,
        /// What to do about it.
        remedy: &'static str,
    },
    /// A program ended with a failure.
    #[error("{program} failed ({status}). Its last words:\n{output}")]
    Failed {
        /// Which program.
        program: String,
        /// How it ended.
        status: String,
        /// The end of what it wrote.
        output: String,
    },
    /// A service did not get ready, or ended before it was.
    #[error("{service} did not get ready ({why}). The end of {}:\n{tail}", log.display())]
    NotReady {
        /// Which service.
        service: String,
        /// What was seen instead.
        why: String,
        /// Where it logs.
        log: PathBuf,
        /// The end of its log.
        tail: String,
    },
    /// A file that the stack wrote does not read back.
    #[error("{} is damaged ({detail}): remove it, or run `./dev reset`", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        detail: String,
    },
    /// The invocation was interrupted and takes back what it started.
    #[error("interrupted")]
    Interrupted,
}

/// Names what was tried on which path when the operating system refuses.
pub(crate) trait OnPath<T> {
    /// The same result, with the verb and the path in its error.
    fn on(self, what: &'static str, path: &Path) -> Result<T, DevstackError>;
}

impl<T> OnPath<T> for io::Result<T> {
    fn on(self, what: &'static str, path: &Path) -> Result<T, DevstackError> {
        self.map_err(|source| DevstackError::Io { what, path: path.to_owned(), source })
    }
}
