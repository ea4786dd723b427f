//! Which generation this role writes, from its row, however long Postgres takes to say.

use std::time::Duration;

use deadpool_postgres::Pool;
use tokio_util::sync::CancellationToken;
use waybill_consumer::codes::POSTGRES_UNAVAILABLE;
use waybill_runtime::Health;
use waybill_store::document::{self, Generation};

use crate::codes::SEARCH_NO_ACTIVE_GENERATION;

/// The component under which the health page shows it.
const COMPONENT: &str = "search.generation";
/// How long to wait before asking again.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// The active generation; `None` once `shutdown` was called.
pub(crate) async fn active(pool: &Pool, health: &Health, shutdown: &CancellationToken) -> Option<Generation> {
    loop {
        match shutdown.run_until_cancelled(look(pool)).await? {
            Ok(generation) => {
                health.clear(COMPONENT);
                return Some(generation);
            }
            Err((code, detail)) => {
                tracing::warn!(code, detail, "no generation to write yet");
                health.degraded(COMPONENT, code, detail);
            }
        }
        shutdown.run_until_cancelled(tokio::time::sleep(RETRY_INTERVAL)).await?;
    }
}

async fn look(pool: &Pool) -> Result<Generation, (&'static str, String)> {
    let client = pool.get().await.map_err(|error| (POSTGRES_UNAVAILABLE, error.to_string()))?;
    let active = document::active_generation(&**client).await;
    active
        .map_err(|error| (POSTGRES_UNAVAILABLE, error.to_string()))?
        .ok_or_else(|| (SEARCH_NO_ACTIVE_GENERATION, "search.generations has no active row".to_owned()))
}
