//! Whether a store can be used: everything that Waybill does there, with an object of its own.

use object_store::ObjectStoreExt;
use object_store::path::Path;
use uuid::Uuid;

use crate::Objects;

/// Where probes lie: beside what is collected and surveyed, not among it.
const PROBES: &str = "doctor";

/// More are there only where earlier ones could not be deleted.
const PROBES_LISTED_MAX: usize = 1_000;

const CONTENT: &[u8] = b"waybill doctor\n";

/// What the store did not do.
#[derive(Debug, thiserror::Error)]
#[error("an object cannot be {what}")]
pub struct ProbeError {
    /// `written`, `read`, `listed` or `deleted`.
    pub what: &'static str,
    /// What the store said.
    source: object_store::Error,
}

impl Objects {
    /// Writes an object as candidates are written, reads it back, finds it in a list, and deletes it.
    ///
    /// # Errors
    /// The first step that failed.
    pub async fn probe(&self) -> Result<(), ProbeError> {
        let path = Path::from(format!("{PROBES}/{}", Uuid::new_v4().simple()));
        let failed = |what| move |source| ProbeError { what, source };
        let mut upload = self.begin(&path).await.map_err(failed("written"))?.into_parts();
        upload.put_part(CONTENT.into()).await.map_err(failed("written"))?;
        upload.complete().await.map_err(failed("written"))?;
        let read = self.get(&path).await.map_err(failed("read"))?.bytes().await.map_err(failed("read"))?;
        let listed = self.page(&Path::from(PROBES), None, PROBES_LISTED_MAX).await;
        let is_listed = listed.map_err(failed("listed"))?.iter().any(|object| object.location == path);
        self.remove(&path).await.map_err(failed("deleted"))?;
        match (read == CONTENT, is_listed) {
            (true, true) => Ok(()),
            (false, _) => Err(failed("read")(differs())),
            (true, false) => Err(failed("listed")(differs())),
        }
    }
}

fn differs() -> object_store::Error {
    let source = "the store answered with something else than what was written".into();
    object_store::Error::Generic { store: "probe", source }
}
