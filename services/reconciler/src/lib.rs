//! Finds work that nothing would move and puts it in motion again, ends the time of results, collects files that nobody
//! needs, and keeps the outboxes in shape.
//!
//! It takes no input: it looks at the world and acts. Any number of them may run side by side, because everything it
//! takes is taken under a lock that the others skip or wait for, or can be done twice. Deliberately absent: a claim, an
//! outcome, a deletion of anything that a live attempt may still need.

pub mod codes;
mod collector;
mod error;
mod expiry;
pub mod metrics;
mod reminders;
mod rounds;
mod survey;
mod upkeep;

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use waybill_objects::Place;
use waybill_publication::Publisher;
use waybill_runtime::{Context, Schema};

pub use collector::{Collected, collect};
pub use error::{Error, RoundError};
pub use expiry::expire;
pub use reminders::remind;
pub use survey::{Surveyed, survey};
pub use upkeep::{DROPS_OF_A_PASS_MAX, LeftBehind, Outbox, keep_ahead, let_go};

/// How long a shutdown waits for the round under way. Rolled back, it is as if it had never begun.
const STOP_LIMIT: Duration = Duration::from_secs(10);

/// Runs the reconciler until its context is shut down.
///
/// # Errors
/// The settings cannot be used.
pub async fn run(context: Context) -> Result<(), Error> {
    let pool = context.pool(Schema::Export)?;
    let publisher = Publisher::new(&context.config.deployment.source, context.topic_prefix())?;
    let store = &context.config.object_store;
    let objects = Place::parse(&store.url, store.settings.iter())?.to_read()?;
    let outboxes = outboxes(&context)?;
    let shutdown = context.shutdown.clone();
    // Side by side: no other team's database can delay a reminder.
    let rounds = async {
        tokio::join!(
            rounds::of_reminders(&context, &pool, &publisher),
            rounds::of_expiry(&context, &pool, &publisher),
            rounds::of_collection(&context, &pool, &objects),
            rounds::of_surveys(&context, &pool, &objects),
            rounds::of_upkeep(&context, &outboxes)
        )
    };
    tokio::select! {
        ((), (), (), (), ()) = rounds => {}
        () = out_of_time(&shutdown) => tracing::warn!("stopped in the middle of a round"),
    }
    Ok(())
}

/// The outboxes that this process keeps in shape.
fn outboxes(context: &Context) -> Result<Vec<Outbox>, Error> {
    let one = |name: String| {
        let (schema, pool) = (context.outbox_schema(&name).to_owned(), context.outbox_pool(&name)?);
        Ok(Outbox { name, schema, pool })
    };
    context.outboxes().into_iter().map(one).collect()
}

async fn out_of_time(shutdown: &CancellationToken) {
    shutdown.cancelled().await;
    tokio::time::sleep(STOP_LIMIT).await;
}
