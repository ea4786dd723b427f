//! A projection: facts, applied to the active generation by its consumer group.

use waybill_consumer::ConsumerError;
use waybill_contract::SchemaError;
use waybill_runtime::codes::ROLE_FAILED;
use waybill_runtime::{Context, PoolError, RoleError, Schema};

use crate::consume::{consume, facts};
use crate::generation;
use crate::of_facts::{FactEffect, OfFacts};

/// Why a projection cannot run. A lost connection is none of these.
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

impl RoleError for Error {
    fn code(&self) -> &'static str {
        match self {
            Self::Pool(error) => error.code(),
            Self::Schemas(_) => ROLE_FAILED,
            Self::Consumer(error) => error.settings_code().unwrap_or(ROLE_FAILED),
        }
    }

    fn is_configuration(&self) -> bool {
        match self {
            Self::Pool(error) => error.is_configuration(),
            Self::Schemas(_) => false,
            Self::Consumer(error) => error.settings_code().is_some(),
        }
    }
}

/// Applies facts to the active generation of `schema` until the context is shut down. `effect_on` makes the effect for a
/// generation; `none_active` is the code that the health page shows while no generation is active.
///
/// # Errors
/// The settings cannot be used, or the consumer ended for good.
pub async fn project<E: FactEffect>(
    context: &Context,
    schema: Schema,
    none_active: &'static str,
    effect_on: impl FnOnce(i32) -> E,
) -> Result<(), Error> {
    let pool = context.pool(schema)?;
    let Some(active) = generation::active(context, &pool, schema, none_active).await else {
        return Ok(());
    };
    let options = facts(context, &active.consumer_group);
    let effect = OfFacts::new(effect_on(active.generation))?;
    consume(context, options, pool, effect, context.shutdown.child_token()).await?;
    Ok(())
}
