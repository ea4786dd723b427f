//! An open store, and what Waybill asks of it beyond `object_store`: uploads that have a name, so that whoever finds one
//! that never ended can abort it.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::stream::{BoxStream, StreamExt, TryStreamExt};
use object_store::multipart::MultipartStore;
use object_store::path::Path;
use object_store::signer::Signer;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};

use crate::staged;
use crate::upload::Upload;

/// An open store. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Objects {
    store: Arc<dyn ObjectStore>,
    parts: Parts,
    /// Where the store can sign.
    pub(crate) signer: Option<Arc<dyn Signer>>,
}

/// How the store keeps the parts of an upload that has not ended.
#[derive(Clone)]
enum Parts {
    /// In a file beside the object, in this directory.
    Staged(PathBuf),
    /// Under a name of the store's own.
    Named(Arc<dyn MultipartStore>),
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Staged(directory) => f.debug_tuple("Staged").field(directory).finish(),
            Self::Named(_) => f.write_str("Named"),
        }
    }
}

impl Deref for Objects {
    type Target = dyn ObjectStore;

    fn deref(&self) -> &Self::Target {
        &*self.store
    }
}

impl Objects {
    /// A store in a directory.
    pub(crate) fn in_directory(store: Arc<dyn ObjectStore>, directory: PathBuf) -> Self {
        Self { store, parts: Parts::Staged(directory), signer: None }
    }

    /// A store whose uploads have names, and which can sign.
    pub(crate) fn with_names<S: ObjectStore + MultipartStore + Signer>(store: S) -> Self {
        let store = Arc::new(store);
        Self {
            store: Arc::clone(&store) as Arc<dyn ObjectStore>,
            signer: Some(Arc::clone(&store) as Arc<dyn Signer>),
            parts: Parts::Named(store),
        }
    }

    /// Begins an upload in parts. No byte of the object is there before [`Upload::name`] can be recorded.
    ///
    /// # Errors
    /// The store refused, or did not answer.
    pub async fn begin(&self, path: &Path) -> object_store::Result<Upload> {
        match &self.parts {
            Parts::Staged(_) => Ok(Upload::staged(self.store.put_multipart(path).await?)),
            Parts::Named(store) => Upload::named(Arc::clone(store), path.clone()).await,
        }
    }

    /// Aborts an upload that nobody will end: removes its parts. That there are none is no error.
    ///
    /// # Errors
    /// The store refused, or did not answer.
    pub async fn abort(&self, path: &Path, name: Option<&str>) -> object_store::Result<()> {
        let aborted = match (&self.parts, name) {
            (Parts::Staged(directory), _) => staged::remove(directory, path).await,
            (Parts::Named(store), Some(name)) => store.abort_multipart(path, &name.to_owned()).await,
            (Parts::Named(_), None) => Ok(()),
        };
        absent_is_well(aborted)
    }

    /// The next objects below a prefix after this key, in the order of their keys, `objects_max` at the most.
    ///
    /// # Errors
    /// The store refused, or did not answer.
    pub async fn page(
        &self,
        prefix: &Path,
        after: Option<&Path>,
        objects_max: usize,
    ) -> object_store::Result<Vec<ObjectMeta>> {
        let listed = match after {
            Some(after) => self.store.list_with_offset(Some(prefix), after),
            None => self.store.list(Some(prefix)),
        };
        match &self.parts {
            Parts::Named(_) => listed.take(objects_max).try_collect().await,
            // A directory is listed as it lies.
            Parts::Staged(_) => first(listed, objects_max).await,
        }
    }

    /// Deletes an object. That there is none is no error.
    ///
    /// # Errors
    /// The store refused, or did not answer.
    pub async fn remove(&self, path: &Path) -> object_store::Result<()> {
        absent_is_well(self.store.delete(path).await)
    }
}

/// The first objects of an unordered list by their keys.
async fn first(
    mut listed: BoxStream<'static, object_store::Result<ObjectMeta>>,
    objects_max: usize,
) -> object_store::Result<Vec<ObjectMeta>> {
    let mut first = BTreeMap::new();
    while let Some(object) = listed.try_next().await? {
        first.insert(object.location.clone(), object);
        if first.len() > objects_max {
            first.pop_last();
        }
    }
    Ok(first.into_values().collect())
}

/// What was to go and was gone already.
fn absent_is_well(answer: object_store::Result<()>) -> object_store::Result<()> {
    match answer {
        Err(object_store::Error::NotFound { .. }) => Ok(()),
        other => other,
    }
}
