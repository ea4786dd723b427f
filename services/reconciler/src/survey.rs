//! Compares the object store with the rows: what lies there that no row knows, and what came back after it was deleted.

use std::collections::BTreeMap;

use deadpool_postgres::Pool;
use futures_util::TryStreamExt;
use jiff::Timestamp;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStoreExt};
use waybill_domain::candidate::CandidateState;
use waybill_objects::{EXPORTS, Objects};
use waybill_store::{claim, collection};

use crate::error::RoundError;
use crate::metrics;

/// How many keys are compared at once.
const PAGE_OBJECTS_MAX: usize = 1_000;

/// How old an object is at the least before it is wondered at (I8).
const UNKNOWN_AFTER_SECONDS: i64 = 60 * 60;

/// What a survey found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Surveyed {
    /// Objects below our prefix.
    pub objects: u64,
    /// Objects older than an hour that no row knows. They stay.
    pub unknown: u64,
    /// Objects that were deleted and lay there again: a writer that was frozen for longer than anything may last has
    /// finished after all. They were removed once more.
    pub returned: u64,
}

/// Reads the whole store once, a page at a time.
///
/// # Errors
/// The store or the database did not answer.
pub async fn survey(pool: &Pool, objects: &Objects) -> Result<Surveyed, RoundError> {
    // Only for what is wondered at, never for what goes.
    let now = claim::database_now(&**pool.get().await?).await?;
    let mut listed = objects.list(Some(&Path::from(EXPORTS))).try_chunks(PAGE_OBJECTS_MAX);
    let mut surveyed = Surveyed::default();
    loop {
        let page = match listed.try_next().await {
            Ok(Some(page)) => page,
            Ok(None) => break,
            Err(error) => return Err(error.1.into()),
        };
        surveyed.objects += page.len() as u64;
        compare(pool, objects, &page, now, &mut surveyed).await?;
    }
    metrics::surveyed(&surveyed);
    Ok(surveyed)
}

async fn compare(
    pool: &Pool,
    objects: &Objects,
    page: &[ObjectMeta],
    now: Timestamp,
    surveyed: &mut Surveyed,
) -> Result<(), RoundError> {
    let keys: Vec<&str> = page.iter().map(|object| object.location.as_ref()).collect();
    let known: BTreeMap<String, CandidateState> =
        collection::known(&**pool.get().await?, &keys).await?.into_iter().collect();
    for object in page {
        match known.get(object.location.as_ref()) {
            Some(CandidateState::Deleted) => {
                surveyed.returned += u64::from(remove_returned(objects, &object.location).await?);
            }
            Some(
                CandidateState::Writing
                | CandidateState::Verified
                | CandidateState::Selected
                | CandidateState::Condemned,
            ) => {}
            None if now.as_second() - object.last_modified.timestamp() >= UNKNOWN_AFTER_SECONDS => {
                surveyed.unknown += 1;
                tracing::debug!(object.key = %object.location, bytes = object.size, "an object that no row knows");
            }
            None => {}
        }
    }
    Ok(())
}

/// Removes an object whose row says that it was deleted, if it is still there: the collector may have been between the list
/// and the rows.
async fn remove_returned(objects: &Objects, path: &Path) -> Result<bool, RoundError> {
    match objects.head(path).await {
        Err(object_store::Error::NotFound { .. }) => return Ok(false),
        Err(error) => return Err(error.into()),
        Ok(_) => {}
    }
    tracing::warn!(object.key = %path, "an object that was deleted is there again");
    objects.remove(path).await?;
    Ok(true)
}
