//! A consumer group of this installation, with the role's Kafka settings and health page.

use std::sync::Arc;

use deadpool_postgres::Pool;
use tokio_util::sync::CancellationToken;
use waybill_consumer::{ConsumerError, ConsumerOptions, Effect};
use waybill_contract::Topics;
use waybill_runtime::Context;

use crate::health::HealthSink;

/// How the group of that name, before the installation's prefix, reads the facts.
#[must_use]
pub fn facts(context: &Context, group: &str) -> ConsumerOptions {
    options(context, group, Topics::with_prefix(context.topic_prefix()).events)
}

/// How the group of that name, before the installation's prefix, reads the commands.
#[must_use]
pub fn commands(context: &Context, group: &str) -> ConsumerOptions {
    options(context, group, Topics::with_prefix(context.topic_prefix()).commands)
}

fn options(context: &Context, group: &str, topic: String) -> ConsumerOptions {
    ConsumerOptions::new(context.group(group), topic, context.kafka_settings())
}

/// Consumes until `shutdown`, and says on the role's health page how it goes. Whatever ends it cancels `shutdown`, so that
/// what runs beside it ends too.
///
/// # Errors
/// Only what another try cannot cure; a lost connection is retried and shown as degraded.
pub async fn consume<E: Effect>(
    context: &Context,
    options: ConsumerOptions,
    pool: Pool,
    effect: E,
    shutdown: CancellationToken,
) -> Result<(), ConsumerError> {
    let _end_the_others = shutdown.clone().drop_guard();
    let status = Arc::new(HealthSink(context.health.clone()));
    waybill_consumer::run(options, pool, Arc::new(effect), status, shutdown).await
}
