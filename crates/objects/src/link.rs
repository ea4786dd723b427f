//! Links by which somebody reads one object from the store itself, for a short while.

use std::time::Duration;

use object_store::Error;
use object_store::path::Path;
use object_store::signer::{Method, SignedUrlOptions};
use url::Url;

use crate::Objects;

impl Objects {
    /// Whether links can be made: every bucket can sign, a directory cannot.
    #[must_use]
    pub fn can_link(&self) -> bool {
        self.signer.is_some()
    }

    /// A link by which this object can be read for so long, and nothing else. Where the store can be told so in a
    /// signed link, it answers with this `Content-Disposition` and `Content-Type`. `None`: the store cannot sign.
    ///
    /// # Errors
    /// The store's credentials could not be had.
    pub async fn link(
        &self,
        path: &Path,
        life: Duration,
        disposition: &str,
        media_type: &str,
    ) -> object_store::Result<Option<Url>> {
        let Some(signer) = &self.signer else { return Ok(None) };
        let answers = [("response-content-disposition", disposition), ("response-content-type", media_type)];
        let options = SignedUrlOptions::new().with_query(answers);
        match signer.signed_url_opts(Method::GET, path, life, &options).await {
            Err(Error::NotSupported { .. }) => signer.signed_url(Method::GET, path, life).await.map(Some),
            other => other.map(Some),
        }
    }
}
