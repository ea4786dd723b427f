//! What `[object_store] url` names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use object_store::local::LocalFileSystem;
use object_store::prefix::PrefixStore;
use url::Url;

use crate::cloud::Cloud;
use crate::{Objects, ObjectsError};

/// A directory of this machine or a bucket of a cloud, and how it is reached.
#[derive(Clone, PartialEq, Eq)]
pub struct Place {
    kind: Kind,
    settings: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// Absolute. It need not exist yet.
    Directory(PathBuf),
    Bucket {
        cloud: Cloud,
        bucket: String,
        prefix: String,
    },
}

impl std::fmt::Debug for Place {
    /// Without the settings, which may be secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.kind.fmt(f)
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.kind {
            Kind::Directory(directory) => write!(f, "{}", directory.display()),
            Kind::Bucket { bucket, prefix, .. } => write!(f, "the bucket {bucket}{prefix}"),
        }
    }
}

impl Place {
    /// Reads `[object_store]`. `url`: `file:///absolute/path`, with what a URL escapes escaped (RFC 8089), or
    /// `s3://bucket/prefix`, `gs://bucket/prefix`, `az://container/prefix`. `settings`: those of the cloud's client by
    /// name, such as `aws_endpoint`; a directory has none.
    ///
    /// # Errors
    /// [`ObjectsError::Url`].
    pub fn parse<'a>(
        url: &str,
        settings: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, ObjectsError> {
        let invalid = || ObjectsError::Url { url: url.to_owned() };
        let parsed = Url::parse(url).map_err(|_no_url| invalid())?;
        let kind = match (parsed.scheme(), parsed.host_str()) {
            ("file", None) => Kind::Directory(parsed.to_file_path().map_err(|()| invalid())?),
            (scheme, Some(bucket)) if is_plain(&parsed) => {
                let cloud = Cloud::of_scheme(scheme).ok_or_else(invalid)?;
                Kind::Bucket { cloud, bucket: bucket.to_owned(), prefix: parsed.path().to_owned() }
            }
            _ => return Err(invalid()),
        };
        let settings = settings.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        Ok(Self { kind, settings: settings.collect() })
    }

    /// The directory, where it is one.
    #[must_use]
    pub fn directory(&self) -> Option<&Path> {
        match &self.kind {
            Kind::Directory(directory) => Some(directory),
            Kind::Bucket { .. } => None,
        }
    }

    /// Opens the store for reading and for what only removes. A directory need not exist: nothing can be read before a
    /// writer has made it.
    ///
    /// # Errors
    /// [`ObjectsError::Store`] for settings that no client can be made with.
    pub fn to_read(&self) -> Result<Objects, ObjectsError> {
        match &self.kind {
            Kind::Directory(directory) => {
                let prefix = object_store::path::Path::from_absolute_path(directory);
                let prefix = prefix.map_err(object_store::Error::from)?;
                let store = PrefixStore::new(LocalFileSystem::new(), prefix);
                Ok(Objects::in_directory(Arc::new(store), directory.clone()))
            }
            Kind::Bucket { cloud, bucket, prefix } => Ok(cloud.open(bucket, prefix, &self.settings)?),
        }
    }

    /// Opens the store for writing, and makes its directory. What it has acknowledged is on the disk.
    ///
    /// # Errors
    /// The directory cannot be made or opened, or no client can be made with the settings.
    pub fn to_write(&self) -> Result<Objects, ObjectsError> {
        let Kind::Directory(directory) = &self.kind else { return self.to_read() };
        std::fs::create_dir_all(directory)
            .map_err(|source| ObjectsError::Directory { directory: directory.clone(), source })?;
        let store = LocalFileSystem::new_with_prefix(directory)?.with_fsync(true);
        Ok(Objects::in_directory(Arc::new(store), directory.clone()))
    }
}

/// Nothing but a scheme, a host and a path: a user or a password has no place here, nor has a query any meaning.
fn is_plain(url: &Url) -> bool {
    url.username().is_empty()
        && url.password().is_none()
        && url.port().is_none()
        && url.query().is_none()
        && url.fragment().is_none()
}

#[cfg(test)]
mod tests {
    use object_store::ObjectStoreExt;

    use super::*;

    #[test]
    fn only_an_absolute_directory_and_a_bucket_of_a_cloud_are_places() {
        let place = Place::parse("file:///var/lib/way%20bill/objects", []).expect("a place");
        assert_eq!(place.directory(), Some(Path::new("/var/lib/way bill/objects")));
        for bucket in ["s3://bucket", "s3://bucket/a/b", "gs://bucket", "az://container/prefix"] {
            assert_eq!(Place::parse(bucket, []).expect("a place").directory(), None);
        }
        for wrong in [
            "/var/lib",
            "https://example.com/bucket",
            "s3:bucket",
            "s3://key:secret@bucket",
            "file://host/path",
            "",
        ] {
            assert!(matches!(Place::parse(wrong, []), Err(ObjectsError::Url { .. })), "{wrong:?} was taken");
        }
    }

    #[test]
    fn a_setting_that_no_client_knows_is_refused_and_none_is_ever_shown() {
        let place = Place::parse("s3://bucket", [("aws_secret_access_key", "hunter2")]).expect("a place");
        assert!(!format!("{place:?} {place}").contains("hunter2"));
        let misspelt = Place::parse("s3://bucket", [("aws_endpiont", "http://127.0.0.1")]).expect("a place");
        assert!(matches!(misspelt.to_read(), Err(ObjectsError::Store(_))));
    }

    /// A place that is not there yet, and the folder that goes when the test is over.
    fn fresh() -> (Place, PathBuf) {
        let root = std::env::temp_dir().join(format!("waybill objects {}", uuid::Uuid::new_v4().simple()));
        let url = Url::from_file_path(root.join("50% of it")).expect("an absolute path");
        (Place::parse(url.as_str(), []).expect("a place"), root)
    }

    #[tokio::test]
    async fn what_is_written_is_found_by_a_reader_that_was_there_before_the_directory() {
        let (place, root) = fresh();
        let (reader, key) = (place.to_read().expect("a reader"), object_store::path::Path::from("exports/1"));
        assert!(matches!(reader.get(&key).await, Err(object_store::Error::NotFound { .. })));

        let writer = place.to_write().expect("a writer");
        writer.put(&key, "id\n".into()).await.expect("it is written");
        let read = reader.get(&key).await.expect("it is found").bytes().await.expect("its bytes");
        assert_eq!(read, "id\n");
        std::fs::remove_dir_all(&root).expect("the directory is removed");
    }

    #[tokio::test]
    async fn an_upload_that_never_ended_is_aborted_and_its_neighbours_stay() {
        let (place, root) = fresh();
        let (writer, key) =
            (place.to_write().expect("a writer"), object_store::path::Path::from("exports/1-a"));
        let neighbour = object_store::path::Path::from("exports/1-ab");
        for path in [&key, &neighbour] {
            let mut upload = writer.begin(path).await.expect("it begins").into_parts();
            upload.put_part("half".into()).await.expect("a part");
            // Its process is gone, without any chance to tidy up.
            std::mem::forget(upload);
        }
        let folder = place.directory().expect("it is one").join("exports");
        let files = || std::fs::read_dir(&folder).expect("a folder").count();
        assert_eq!(files(), 2, "what was staged is there");
        let collector = place.to_read().expect("a collector");
        for _ in 0..2 {
            collector.abort(&key, None).await.expect("it is aborted");
            collector.remove(&key).await.expect("there is no object");
        }
        assert_eq!(files(), 1, "only the one that was aborted went");
        std::fs::remove_dir_all(&root).expect("the directory is removed");
    }

    #[tokio::test]
    async fn a_directory_is_paged_in_the_order_of_its_keys() {
        let (place, root) = fresh();
        let writer = place.to_write().expect("a writer");
        for number in [3, 1, 2, 5, 4] {
            let key = object_store::path::Path::from(format!("exports/{number}/x"));
            writer.put(&key, "id\n".into()).await.expect("it is written");
        }
        let prefix = object_store::path::Path::from("exports");
        let (mut after, mut seen) = (None, Vec::new());
        loop {
            let page = writer.page(&prefix, after.as_ref(), 2).await.expect("a page");
            let Some(last) = page.last() else { break };
            after = Some(last.location.clone());
            seen.extend(page.iter().map(|object| object.location.to_string()));
        }
        let wanted: Vec<_> = (1..=5).map(|number| format!("exports/{number}/x")).collect();
        assert_eq!(seen, wanted);
        std::fs::remove_dir_all(&root).expect("the directory is removed");
    }
}
