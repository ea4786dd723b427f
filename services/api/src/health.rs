//! Looks on a timer whether the databases answer, and says so on `/readyz`.

use std::time::Duration;

use deadpool_postgres::{Pool, PoolError, TimeoutType};
use tokio_util::sync::CancellationToken;
use waybill_runtime::codes::DATABASE_UNREACHABLE;
use waybill_runtime::{Health, Schema};
use waybill_store::quarantine;

use crate::app::App;
use crate::codes;

/// What `/readyz` calls the exports that wait for an operator.
const QUARANTINE: &str = "quarantined exports";
/// How many of them are counted at the most.
const WAITING_COUNTED_MAX: i64 = 10;

/// The time between two looks.
const LOOK_INTERVAL_SECONDS: u64 = 5;

/// Looks until `shutdown`. Without export's database the process answers nobody, so that one failing fails it; without
/// another one only some paths answer 503.
pub(crate) async fn watch(app: App, health: Health, shutdown: CancellationToken) {
    let mut timer = tokio::time::interval(Duration::from_secs(LOOK_INTERVAL_SECONDS));
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            _ = timer.tick() => {}
        }
        for (schema, pool) in app.pools() {
            let component = format!("database {schema}");
            match look(pool).await {
                Ok(()) => {
                    health.clear(&component);
                    if schema == Schema::Export {
                        say_what_waits(pool, &health).await;
                    }
                }
                Err(Lost::Busy) => {
                    health.degraded(&component, codes::OVERLOADED, "every connection is in use");
                }
                Err(Lost::Away(detail)) if schema == Schema::Export => {
                    health.failed(&component, DATABASE_UNREACHABLE, detail);
                }
                Err(Lost::Away(detail)) => health.degraded(&component, DATABASE_UNREACHABLE, detail),
            }
        }
    }
}

/// A quarantined export moves only when a person decides, so a person has to see that there is one.
async fn say_what_waits(pool: &Pool, health: &Health) {
    let Ok(db) = pool.get().await else { return };
    // What fails here is said by the next look at the database.
    let Ok(waiting) = quarantine::list(&**db, None, WAITING_COUNTED_MAX).await else { return };
    let Some(oldest) = waiting.first() else { return health.clear(QUARANTINE) };
    let more = if i64::try_from(waiting.len()) == Ok(WAITING_COUNTED_MAX) { " or more" } else { "" };
    let detail = format!(
        "{}{more} exports wait for an operator, {} the longest; see waybill export list --state quarantined",
        waiting.len(),
        oldest.export_id
    );
    health.degraded(QUARANTINE, codes::EXPORT_QUARANTINED, detail);
}

enum Lost {
    Busy,
    Away(String),
}

async fn look(pool: &Pool) -> Result<(), Lost> {
    let db = pool.get().await.map_err(|error| match error {
        PoolError::Timeout(TimeoutType::Wait) => Lost::Busy,
        PoolError::Timeout(TimeoutType::Create | TimeoutType::Recycle)
        | PoolError::Backend(_)
        | PoolError::Closed
        | PoolError::NoRuntimeSpecified
        | PoolError::PostCreateHook(_) => Lost::Away(waybill_runtime::chain(&error)),
    })?;
    db.check_connection().await.map_err(|error| Lost::Away(waybill_runtime::chain(&error)))
}
