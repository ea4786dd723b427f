//! The role: one consumer group, that of the active generation.

use waybill_runtime::{Context, Schema};
use waybill_subscription::{Error, project};

use crate::codes::SEARCH_NO_ACTIVE_GENERATION;
use crate::documents::Documents;

/// Runs the role until `context.shutdown` is cancelled.
///
/// # Errors
/// Its settings cannot be used, or the consumer ended for good.
pub async fn run(context: Context) -> Result<(), Error> {
    project(&context, Schema::Search, SEARCH_NO_ACTIVE_GENERATION, Documents::new).await
}
