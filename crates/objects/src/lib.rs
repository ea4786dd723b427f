//! Where the files of exports lie: one way to read `[object_store] url`, and one to open it, for whoever writes there,
//! reads there or looks whether one could.
//!
//! Deliberately absent: keys of objects (they are the worker's), and any object itself.

pub mod codes;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use object_store::prefix::PrefixStore;
use url::Url;

/// Why there is no object store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectsError {
    /// The address is no URL of a directory.
    #[error("[object_store] url = {url:?} is no file:///absolute/path")]
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
    /// The store refuses.
    #[error("the object store cannot be opened")]
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

    /// Whether only another `[object_store] url` can help.
    #[must_use]
    pub const fn is_configuration(&self) -> bool {
        match self {
            Self::Url { .. } | Self::Store(_) => true,
            Self::Directory { .. } => false,
        }
    }
}

/// A directory of this machine, absolute. It need not exist yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    directory: PathBuf,
}

impl Place {
    /// Reads `[object_store] url`: `file:///absolute/path`, with what a URL escapes escaped (RFC 8089).
    ///
    /// # Errors
    /// [`ObjectsError::Url`].
    pub fn parse(url: &str) -> Result<Self, ObjectsError> {
        let parsed = Url::parse(url).ok().filter(|url| url.scheme() == "file" && url.host().is_none());
        let directory = parsed.and_then(|url| url.to_file_path().ok());
        Ok(Self { directory: directory.ok_or_else(|| ObjectsError::Url { url: url.to_owned() })? })
    }

    /// The directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Opens the store for reading. The directory need not exist: nothing can be read before a writer has made it.
    ///
    /// # Errors
    /// [`ObjectsError::Store`] for a path that cannot be a prefix of objects.
    pub fn to_read(&self) -> Result<Arc<dyn ObjectStore>, ObjectsError> {
        let prefix = object_store::path::Path::from_absolute_path(&self.directory);
        let prefix = prefix.map_err(object_store::Error::from)?;
        Ok(Arc::new(PrefixStore::new(LocalFileSystem::new(), prefix)))
    }

    /// Opens the store for writing, and makes its directory. What it has acknowledged is on the disk.
    ///
    /// # Errors
    /// The directory cannot be made or opened.
    pub fn to_write(&self) -> Result<Arc<dyn ObjectStore>, ObjectsError> {
        let Self { directory } = self;
        std::fs::create_dir_all(directory)
            .map_err(|source| ObjectsError::Directory { directory: directory.clone(), source })?;
        Ok(Arc::new(LocalFileSystem::new_with_prefix(directory)?.with_fsync(true)))
    }
}

#[cfg(test)]
mod tests {
    use object_store::ObjectStoreExt;

    use super::*;

    #[test]
    fn only_an_absolute_directory_of_this_machine_is_a_place() {
        let place = Place::parse("file:///var/lib/way%20bill/objects").expect("a place");
        assert_eq!(place.directory(), Path::new("/var/lib/way bill/objects"));
        for wrong in ["/var/lib", "https://example.com/bucket", "s3://bucket", "file://host/path", ""] {
            assert!(matches!(Place::parse(wrong), Err(ObjectsError::Url { .. })), "{wrong:?} was taken");
        }
    }

    #[tokio::test]
    async fn what_is_written_is_found_by_a_reader_that_was_there_before_the_directory() {
        let root = std::env::temp_dir().join(format!("waybill objects {}", uuid::Uuid::new_v4().simple()));
        let directory = root.join("50% of it");
        let url = Url::from_file_path(&directory).expect("an absolute path");
        let place = Place::parse(url.as_str()).expect("a place");
        let (reader, key) = (place.to_read().expect("a reader"), object_store::path::Path::from("exports/1"));
        assert!(matches!(reader.get(&key).await, Err(object_store::Error::NotFound { .. })));

        let writer = place.to_write().expect("a writer");
        writer.put(&key, "id\n".into()).await.expect("it is written");
        let read = reader.get(&key).await.expect("it is found").bytes().await.expect("its bytes");
        assert_eq!(read, "id\n");
        std::fs::remove_dir_all(&root).expect("the directory is removed");
    }
}
