//! Moves committed outbox rows to Kafka, and marks only what Kafka acknowledged.
//!
//! One relay is active and holds the outbox's lease, the others stand by. Deliberately absent: everything that knows what
//! an event means, and any memory of the cursor that outlives a connection.

mod active;
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
mod probe;
mod producer;
mod silence;
mod standby;
mod topics;
mod watch;

pub use error::Error;
pub use metrics::METRICS;

use std::time::Duration;

use waybill_runtime::{Context, Schema};

use crate::active::End;
use crate::lease::Lost;
use crate::listener::Wakes;
use crate::options::Options;
use crate::producer::Producer;

/// How long giving back the lease may take at the end.
const RELEASE_MAX: Duration = Duration::from_secs(3);

/// Relays until shutdown: waits for the lease, relays under it, and stands by again when it is lost.
///
/// # Errors
/// Only what no retry can mend: an address or settings that cannot be used.
pub async fn run(context: Context) -> Result<(), Error> {
    let options = Options::from_config(&context.config.relay);
    let pool = context.pool(Schema::Outbox)?;
    Producer::check(&context.kafka_settings(), &options)?;
    let holder = format!("relay-{}", uuid::Uuid::now_v7().simple());
    let wakes = Wakes::default();
    let listening = tokio::spawn(listener::listen(context.clone(), wakes.clone()));
    let mut relayed = Ok(());
    while let Some(taken) = standby::acquire(&context, &pool, &options, &holder, &wakes).await {
        let fence = taken.cursor.fence;
        tracing::info!(outbox.name = options.outbox, outbox.fence = fence, "active");
        ::metrics::gauge!(metrics::ACTIVE.name).set(1);
        #[expect(clippy::cast_precision_loss, reason = "a gauge is a float, and fences are small")]
        ::metrics::gauge!(metrics::FENCE.name).set(fence as f64);
        let end = active::relay(&context, &pool, &options, &wakes, taken).await;
        ::metrics::gauge!(metrics::ACTIVE.name).set(0);
        match end {
            Ok(End::Shutdown) => lease::release(&pool, fence, RELEASE_MAX).await,
            Ok(End::Lost(Lost::Fenced)) => {
                tracing::warn!(outbox.fence = fence, code = codes::RELAY_FENCED, "fenced: standing by");
            }
            Ok(End::Lost(Lost::Late)) => {
                tracing::warn!(
                    outbox.fence = fence,
                    code = codes::RELAY_LEASE_LATE,
                    "lease late: standing by"
                );
            }
            Ok(End::Lost(Lost::DatabaseChanged)) => {
                tracing::warn!(
                    outbox.fence = fence,
                    code = codes::RELAY_DATABASE_CHANGED,
                    "another database: standing by"
                );
            }
            Err(error) => {
                lease::release(&pool, fence, RELEASE_MAX).await;
                relayed = Err(error);
                break;
            }
        }
    }
    listening.abort();
    relayed
}
