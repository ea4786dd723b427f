//! Which generation a projection writes, from its row, however long Postgres takes to say.

use std::time::Duration;

use deadpool_postgres::Pool;
use waybill_consumer::codes::POSTGRES_UNAVAILABLE;
use waybill_runtime::{Context, Schema, chain};
use waybill_store::generation::{self, Generation};

/// The component under which the health page shows it.
const COMPONENT: &str = "generation";
/// How long to wait before asking again.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// The active generation of `schema`, which `pool` works in; `None` once the context was shut down. While there is none, or
/// while Postgres does not say, the role is degraded: with `none_active` in the former case.
pub(crate) async fn active(
    context: &Context,
    pool: &Pool,
    schema: Schema,
    none_active: &'static str,
) -> Option<Generation> {
    let (health, shutdown) = (&context.health, &context.shutdown);
    loop {
        match shutdown.run_until_cancelled(look(pool)).await? {
            Ok(Some(generation)) => {
                health.clear(COMPONENT);
                return Some(generation);
            }
            Ok(None) => {
                health.degraded(COMPONENT, none_active, format!("{schema}.generations has no active row"));
            }
            Err(detail) => health.degraded(COMPONENT, POSTGRES_UNAVAILABLE, detail),
        }
        shutdown.run_until_cancelled(tokio::time::sleep(RETRY_INTERVAL)).await?;
    }
}

async fn look(pool: &Pool) -> Result<Option<Generation>, String> {
    let client = pool.get().await.map_err(|error| chain(&error))?;
    generation::active(&**client).await.map_err(|error| chain(&error))
}
