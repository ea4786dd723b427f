//! The role: a consumer, a sender and a watch, until one fails for good or the process is asked to end.

use std::sync::Arc;

use tokio::sync::Notify;
use waybill_consumer::{ConsumerError, ConsumerOptions, StatusSink};
use waybill_contract::{SchemaError, Schemas, Topics};
use waybill_runtime::{Context, Health, PoolError, Schema};

use crate::channels::Channels;
use crate::intents::Intents;
use crate::sender::Sender;
use crate::settings::{Pace, SettingsError};
use crate::watch::Watch;

/// The notifier's consumer group, before the installation's prefix.
pub const GROUP: &str = "waybill.notifier";

/// Why the notifier cannot run. A lost connection is none of these.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The settings cannot be used.
    #[error("{code}: {0}", code = crate::codes::NOTIFIER_SETTINGS_INVALID)]
    Settings(#[from] SettingsError),
    /// The database's address cannot be used.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// The embedded schemas cannot be used.
    #[error(transparent)]
    Schemas(#[from] SchemaError),
    /// The consumer ended for good.
    #[error(transparent)]
    Consumer(#[from] ConsumerError),
}

/// Says on the health page what the consumer says.
#[derive(Debug)]
struct HealthSink(Health);

impl StatusSink for HealthSink {
    fn degraded(&self, component: &str, code: &'static str, detail: &str) {
        self.0.degraded(component, code, detail);
    }

    fn clear(&self, component: &str) {
        self.0.clear(component);
    }
}

/// Runs the notifier until `context.shutdown` is cancelled.
///
/// # Errors
/// The settings cannot be used, or the consumer ended for good.
pub async fn run(context: Context) -> Result<(), Error> {
    let config = &context.config.notifier;
    let (pace, channels) = (Pace::new(config)?, Channels::new(config)?);
    let pool = context.pool(Schema::Notify)?;
    let wake = Arc::new(Notify::new());
    // Whatever ends one of the three ends the others.
    let shutdown = context.shutdown.child_token();
    let sender = Sender::new(pool.clone(), channels, pace, Arc::clone(&wake), context.health.clone());
    let watch = Watch::new(pool.clone(), context.health.clone(), pace.poll_interval);
    let effect = Arc::new(Intents::new(Arc::new(Schemas::embedded()?), wake));
    let topics = Topics::with_prefix(context.topic_prefix());
    let options = ConsumerOptions::new(context.group(GROUP), topics.events, context.kafka_settings());
    let status = Arc::new(HealthSink(context.health.clone()));
    let consuming = async {
        let ended = waybill_consumer::run(options, pool, effect, status, shutdown.clone()).await;
        shutdown.cancel();
        ended
    };
    let (consumed, (), ()) =
        tokio::join!(consuming, sender.run(shutdown.clone()), watch.run(shutdown.clone()));
    Ok(consumed?)
}
