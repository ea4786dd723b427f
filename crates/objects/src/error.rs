//! Why there is no object store.

use std::path::PathBuf;

use crate::codes;

/// Why there is no object store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectsError {
    /// The address names no store that this version knows.
    #[error(
        "[object_store] url = {url:?} is none of file:///absolute/path, s3://bucket/prefix, gs://bucket/prefix and \
         az://container/prefix"
    )]
    Url {
        /// The configured value.
        url: String,
    },
    /// The directory cannot be made.
    #[error("cannot make {}, the directory of [object_store] url", directory.display())]
    Directory {
        /// The directory.
        directory: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The store cannot be opened with these settings.
    #[error("the object store cannot be opened with these settings")]
    Store(#[from] object_store::Error),
}

impl ObjectsError {
    /// The code of the page that says what to do.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        if self.is_configuration() {
            codes::OBJECT_STORE_URL_INVALID
        } else {
            codes::OBJECT_STORE_UNAVAILABLE
        }
    }

    /// Whether only other values in `[object_store]` can help.
    #[must_use]
    pub const fn is_configuration(&self) -> bool {
        match self {
            Self::Url { .. } | Self::Store(_) => true,
            Self::Directory { .. } => false,
        }
    }
}
