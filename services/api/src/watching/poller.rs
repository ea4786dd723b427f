//! Reads how far all watched exports are, for all who watch them.

use std::time::Duration;

use deadpool_postgres::Pool;
use waybill_runtime::chain;
use waybill_store::StoreError;
use waybill_store::watched::marks;

use super::Watching;

/// How often is looked when nothing was heard.
const POLL_INTERVAL_MS: u64 = 1_000;
/// The least time between two looks, however much is heard.
const POLL_PAUSE_MS: u64 = 50;
/// The most exports of one read.
const EXPORTS_A_READ_MAX: usize = 500;

#[derive(Debug, thiserror::Error)]
enum PollError {
    #[error("there is no connection")]
    Pool(#[from] deadpool_postgres::PoolError),
    #[error("the exports could not be read")]
    Store(#[from] StoreError),
}

/// Looks until the process ends, and not at all while nobody watches.
pub(crate) async fn poll(watching: Watching, pool: Pool) {
    let looking = async {
        loop {
            if watching.watched().is_empty() {
                watching.0.stirred.notified().await;
            } else {
                let stirred = watching.0.stirred.notified();
                // Over when something was heard, or when it is time anyway.
                let _ = tokio::time::timeout(Duration::from_millis(POLL_INTERVAL_MS), stirred).await;
            }
            if let Err(error) = look(&watching, &pool).await {
                // Whoever waits goes on waiting; the database's own state is on /readyz.
                tracing::debug!(error = %chain(&error), "could not look at the watched exports");
            }
            tokio::time::sleep(Duration::from_millis(POLL_PAUSE_MS)).await;
        }
    };
    watching.0.shutdown.run_until_cancelled(looking).await;
}

async fn look(watching: &Watching, pool: &Pool) -> Result<(), PollError> {
    let watched = watching.watched();
    if watched.is_empty() {
        return Ok(());
    }
    let db = pool.get().await?;
    for part in watched.chunks(EXPORTS_A_READ_MAX) {
        for (export_id, mark) in marks(&**db, part).await? {
            watching.tell(&export_id, mark);
        }
    }
    Ok(())
}
