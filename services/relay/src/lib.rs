//! Moves committed outbox rows to Kafka, and marks only what Kafka acknowledged.
//!
//! One relay is active and holds the outbox's lease, the others stand by. Deliberately absent: everything that knows what
//! an event means, and any memory of the cursor that outlives a connection.

mod active;
mod age;
mod backoff;
pub mod codes;
mod database;
mod delivery;
mod draining;
mod error;
mod holding;
mod holds;
mod lease;
mod line;
mod listener;
pub mod metrics;
mod observe;
mod options;
mod partitions;
mod probe;
mod producer;
mod silence;
mod standby;
mod topics;
mod turn;
mod watch;

pub use error::Error;
pub use metrics::METRICS;

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;
use waybill_runtime::Context;
use waybill_runtime::config::MAIN_OUTBOX;

use crate::active::End;
use crate::age::OldestAge;
use crate::lease::Lost;
use crate::listener::Wakes;
use crate::options::Options;
use crate::producer::Producer;

/// How long giving back the lease may take at the end.
const RELEASE_MAX: Duration = Duration::from_secs(3);

/// Relays every outbox of the configuration until shutdown. Each has its own lease, connections and producer, so that one
/// whose database is away holds up no other.
///
/// # Errors
/// Only what no retry can mend: an address or settings that cannot be used.
pub async fn run(context: Context) -> Result<(), Error> {
    let ending = context.shutdown.child_token();
    let mut relays = JoinSet::new();
    for outbox in context.outboxes() {
        let mut context = context.clone();
        context.shutdown = ending.clone();
        if outbox != MAIN_OUTBOX {
            context.health = context.health.within(&format!("outbox {outbox}"));
        }
        relays.spawn(relay_outbox(context, outbox));
    }
    let mut relayed = Ok(());
    while let Some(ended) = relays.join_next().await {
        // Whichever fails first ends the others, in an orderly way.
        if let Err(error) = ended.map_err(Error::from).and_then(|ended| ended) {
            ending.cancel();
            relayed = relayed.and(Err(error));
        }
    }
    relayed
}

/// Relays one outbox until shutdown: waits for the lease, relays under it, and stands by again when it is lost.
async fn relay_outbox(context: Context, outbox: String) -> Result<(), Error> {
    let options = Options::from_config(&context.config.relay, &outbox);
    let pool = context.outbox_pool(&outbox)?;
    Producer::check(&context.kafka_settings(), &options)?;
    let holder = format!("relay-{}", uuid::Uuid::now_v7().simple());
    let wakes = Wakes::default();
    let listening =
        tokio::spawn(listener::listen(context.clone(), Arc::clone(&options.outbox), wakes.clone()));
    let _listening = AbortOnDropHandle::new(listening);
    let oldest = OldestAge::of(&options.outbox);
    while let Some(taken) = standby::acquire(&context, &pool, &options, &holder, &wakes, &oldest).await {
        let fence = taken.cursor.fence;
        tracing::info!(outbox.name = outbox, outbox.fence = fence, "active");
        metrics::set(&metrics::ACTIVE, &options.outbox, 1.0);
        #[expect(clippy::cast_precision_loss, reason = "a gauge is a float, and fences are small")]
        metrics::set(&metrics::FENCE, &options.outbox, fence as f64);
        let end = active::relay(&context, &pool, &options, &wakes, taken, &oldest).await;
        metrics::set(&metrics::ACTIVE, &options.outbox, 0.0);
        match &end {
            // Without a word from the database nobody is known to look at it now; on another one nobody relays it.
            Ok(End::Lost(Lost::Late | Lost::DatabaseChanged)) => {}
            Ok(End::Shutdown | End::Lost(Lost::Fenced)) | Err(_) => oldest.forget(),
        }
        let lost = match end {
            Ok(End::Shutdown) => {
                lease::release(&pool, fence, RELEASE_MAX).await;
                continue;
            }
            Ok(End::Lost(lost)) => lost,
            Err(error) => {
                lease::release(&pool, fence, RELEASE_MAX).await;
                return Err(error);
            }
        };
        let (code, said) = match lost {
            Lost::Fenced => (codes::RELAY_FENCED, "fenced: standing by"),
            Lost::Late => (codes::RELAY_LEASE_LATE, "lease late: standing by"),
            Lost::DatabaseChanged => (codes::RELAY_DATABASE_CHANGED, "another database: standing by"),
        };
        tracing::warn!(outbox.name = outbox, outbox.fence = fence, code, "{said}");
    }
    Ok(())
}
