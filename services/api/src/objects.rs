//! Where results are read from. The api never writes an object.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use url::Url;

use crate::error::Error;

/// Opens the store of this URL. The folder need not exist yet: nothing can be read before a worker has made it.
pub(crate) fn open(url: &str) -> Result<Arc<dyn ObjectStore>, Error> {
    let refuse = |detail: String| Error::ObjectStoreUrl { url: url.to_owned(), detail };
    let parsed = Url::parse(url).map_err(|error| refuse(error.to_string()))?;
    if parsed.scheme() != "file" || parsed.host().is_some() {
        return Err(refuse("only file:///absolute/path is known".to_owned()));
    }
    let folder = Path::from_url_path(parsed.path()).map_err(|error| refuse(error.to_string()))?;
    Ok(Arc::new(PrefixStore::new(LocalFileSystem::new(), folder)))
}

#[cfg(test)]
mod tests {
    use super::open;

    #[test]
    fn only_an_absolute_file_url_is_opened() {
        assert!(open("file:///var/lib/waybill/objects").is_ok());
        for wrong in ["/var/lib", "s3://bucket", "file://host/path", ""] {
            assert!(open(wrong).is_err(), "{wrong:?} was taken");
        }
    }
}
