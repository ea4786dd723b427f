//! The role: one consumer group, that of the active generation.

use std::sync::Arc;

use waybill_consumer::{ConsumerError, ConsumerOptions};
use waybill_contract::{SchemaError, Schemas, Topics};
use waybill_runtime::{Context, PoolError, Schema};

use crate::counters::Counters;
use crate::generation;
use crate::health::HealthSink;

/// Why the role cannot run. A lost connection is none of these.
#[derive(Debug, thiserror::Error)]
pub enum Error {
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

/// Runs the role until `context.shutdown` is cancelled.
///
/// # Errors
/// Its settings cannot be used, or the consumer ended for good.
pub async fn run(context: Context) -> Result<(), Error> {
    let pool = context.pool(Schema::Stats)?;
    let schemas = Arc::new(Schemas::embedded()?);
    let Some(active) = generation::active(&pool, &context.health, &context.shutdown).await else {
        return Ok(());
    };
    let topics = Topics::with_prefix(context.topic_prefix());
    let options =
        ConsumerOptions::new(context.group(&active.consumer_group), topics.events, context.kafka_settings());
    let effect = Arc::new(Counters::new(schemas, active.generation));
    let status = Arc::new(HealthSink(context.health.clone()));
    waybill_consumer::run(options, pool, effect, status, context.shutdown.clone()).await?;
    Ok(())
}
