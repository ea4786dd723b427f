//! The role: one consumer group, that of the active generation.

use waybill_runtime::{Context, Schema};
use waybill_subscription::{Error, project};

use crate::codes::STATS_NO_ACTIVE_GENERATION;
use crate::counters::Counters;

/// Runs the role until `context.shutdown` is cancelled.
///
/// # Errors
/// Its settings cannot be used, or the consumer ended for good.
pub async fn run(context: Context) -> Result<(), Error> {
    project(&context, Schema::Stats, STATS_NO_ACTIVE_GENERATION, Counters::new).await
}
