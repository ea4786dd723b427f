//! The object store that candidates are written to.

use std::path::PathBuf;
use std::sync::Arc;

use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use url::Url;
use waybill_domain::ids::{ExportId, TenantId};

/// Why there is no object store.
#[derive(Debug, thiserror::Error)]
pub enum ObjectsError {
    /// The address is no URL of a directory.
    #[error("[object_store] url must be file:///absolute/path")]
    Url,
    /// The directory cannot be made.
    #[error("the directory {} of [object_store] url", directory.display())]
    Directory {
        /// The directory.
        directory: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The store refuses.
    #[error("the object store")]
    Store(#[from] object_store::Error),
}

/// Opens the store at a `file:///` URL, making its directory. What it has acknowledged is on the disk.
///
/// # Errors
/// The URL is none of a directory, or the directory cannot be made.
pub fn open(url: &str) -> Result<Arc<dyn ObjectStore>, ObjectsError> {
    let directory = Url::parse(url).ok().filter(|url| url.scheme() == "file");
    let directory = directory.and_then(|url| url.to_file_path().ok()).ok_or(ObjectsError::Url)?;
    std::fs::create_dir_all(&directory)
        .map_err(|source| ObjectsError::Directory { directory: directory.clone(), source })?;
    Ok(Arc::new(LocalFileSystem::new_with_prefix(&directory)?.with_fsync(true)))
}

/// A key that no other attempt has: the fence keeps generations apart, the random part a generation's own repetitions.
pub(crate) fn new_key(tenant_id: &TenantId, export_id: &ExportId, fence: i64) -> String {
    format!("exports/{tenant_id}/{export_id}/{fence}-{}", uuid::Uuid::new_v4().simple())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_directory_of_this_machine_is_taken() {
        assert!(matches!(open("https://example.com/bucket"), Err(ObjectsError::Url)));
        assert!(matches!(open("/var/lib"), Err(ObjectsError::Url)));
    }

    #[test]
    fn two_keys_of_one_attempt_differ_and_are_paths_as_they_stand() {
        let (tenant, export) =
            (TenantId::from_uuid(uuid::Uuid::nil()), ExportId::from_uuid(uuid::Uuid::nil()));
        let (first, second) = (new_key(&tenant, &export, 3), new_key(&tenant, &export, 3));
        assert_ne!(first, second);
        assert_eq!(object_store::path::Path::from(first.as_str()).as_ref(), first);
    }
}
