//! An upload in parts. Where the store gives it a name, the name is known before the first part is sent.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use object_store::multipart::{MultipartStore, PartId};
use object_store::path::Path;
use object_store::{MultipartId, MultipartUpload, PutPayload, PutResult, UploadPart};

/// An upload that has begun and of which nothing was sent yet.
#[derive(Debug)]
pub struct Upload {
    name: Option<String>,
    parts: Box<dyn MultipartUpload>,
}

impl Upload {
    pub(crate) fn staged(parts: Box<dyn MultipartUpload>) -> Self {
        Self { name: None, parts }
    }

    pub(crate) async fn named(store: Arc<dyn MultipartStore>, path: Path) -> object_store::Result<Self> {
        let id = store.create_multipart(&path).await?;
        let name = id.clone();
        let parts = Named { store, path, id, begun: 0, sent: Arc::default() };
        // Azure has no names: what is left of an upload there goes by itself after a week.
        Ok(Self { name: Some(name).filter(|name| !name.is_empty()), parts: Box::new(parts) })
    }

    /// The store's name for it, by which it can be aborted: to be recorded before the first part is sent.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The upload itself.
    #[must_use]
    pub fn into_parts(self) -> Box<dyn MultipartUpload> {
        self.parts
    }
}

/// A named upload, driven part by part.
struct Named {
    store: Arc<dyn MultipartStore>,
    path: Path,
    id: MultipartId,
    begun: usize,
    /// By index, as they arrive.
    sent: Arc<Mutex<Vec<(usize, PartId)>>>,
}

impl std::fmt::Debug for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Named").field("path", &self.path).field("begun", &self.begun).finish_non_exhaustive()
    }
}

#[async_trait]
impl MultipartUpload for Named {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let index = self.begun;
        self.begun += 1;
        let (store, sent) = (Arc::clone(&self.store), Arc::clone(&self.sent));
        let (path, id) = (self.path.clone(), self.id.clone());
        Box::pin(async move {
            let part = store.put_part(&path, &id, index, data).await?;
            sent.lock().unwrap_or_else(PoisonError::into_inner).push((index, part));
            Ok(())
        })
    }

    async fn complete(&mut self) -> object_store::Result<PutResult> {
        if self.begun == 0 {
            // A store takes no upload without a part, and an object may be empty.
            self.put_part(PutPayload::new()).await?;
        }
        let mut sent = std::mem::take(&mut *self.sent.lock().unwrap_or_else(PoisonError::into_inner));
        sent.sort_by_key(|(index, _)| *index);
        if sent.len() != self.begun {
            let source = format!("{} of {} parts were sent", sent.len(), self.begun).into();
            return Err(object_store::Error::Generic { store: "upload in parts", source });
        }
        let parts = sent.into_iter().map(|(_, part)| part).collect();
        self.store.complete_multipart(&self.path, &self.id, parts).await
    }

    async fn abort(&mut self) -> object_store::Result<()> {
        self.store.abort_multipart(&self.path, &self.id).await
    }
}
