//! Looks on a timer whether the databases answer, and says so on `/readyz`.

use std::time::Duration;

use deadpool_postgres::{Object, Pool, PoolError, TimeoutType};
use tokio_util::sync::CancellationToken;
use waybill_runtime::codes::DATABASE_UNREACHABLE;
use waybill_runtime::{Health, Schema, chain};
use waybill_store::quarantine;

use crate::app::App;
use crate::codes;
use crate::versioned::Unreadable;

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
        let export = component(Schema::Export);
        match look(app.export_pool().get().await.map_err(Unreadable::from)).await {
            Ok(()) => {
                health.clear(&export);
                say_what_waits(app.export_pool(), &health).await;
            }
            Err(Lost { code: codes::OVERLOADED, detail }) => {
                health.degraded(&export, codes::OVERLOADED, detail);
            }
            Err(Lost { code, detail }) => health.failed(&export, code, detail),
        }
        for (schema, database) in app.read_only() {
            match look(database.get().await).await {
                Ok(()) => health.clear(&component(schema)),
                Err(Lost { code, detail }) => health.degraded(&component(schema), code, detail),
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

/// What `/readyz` calls the database of a schema.
fn component(schema: Schema) -> String {
    format!("database {schema}")
}

/// Why a database cannot be used now.
struct Lost {
    code: &'static str,
    detail: String,
}

async fn look(connection: Result<Object, Unreadable>) -> Result<(), Lost> {
    let db = connection.map_err(|error| match &error {
        Unreadable::Pool(PoolError::Timeout(TimeoutType::Wait)) => {
            Lost { code: codes::OVERLOADED, detail: "every connection is in use".to_owned() }
        }
        Unreadable::Version(version) if !version.is_dependency() => {
            Lost { code: version.code(), detail: chain(&error) }
        }
        Unreadable::Pool(_) | Unreadable::Version(_) => away(&error),
    })?;
    db.check_connection().await.map_err(|error| away(&error))
}

fn away(error: &dyn std::error::Error) -> Lost {
    Lost { code: DATABASE_UNREACHABLE, detail: chain(error) }
}
