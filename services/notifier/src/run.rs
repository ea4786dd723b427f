//! The role: a consumer, a sender and a watch, until one fails for good or the process is asked to end.

use std::sync::Arc;

use tokio::sync::Notify;
use waybill_consumer::ConsumerError;
use waybill_contract::SchemaError;
use waybill_runtime::codes::ROLE_FAILED;
use waybill_runtime::{Context, PoolError, RoleError, Schema};
use waybill_subscription::OfFacts;

use crate::channels::Channels;
use crate::codes::NOTIFIER_SETTINGS_INVALID;
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
    #[error("the settings under [notifier] cannot be used")]
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

impl RoleError for Error {
    fn code(&self) -> &'static str {
        match self {
            Self::Settings(SettingsError::Config(error)) => error.code(),
            Self::Settings(_) => NOTIFIER_SETTINGS_INVALID,
            Self::Pool(error) => error.code(),
            Self::Schemas(_) => ROLE_FAILED,
            Self::Consumer(error) => error.settings_code().unwrap_or(ROLE_FAILED),
        }
    }

    fn is_configuration(&self) -> bool {
        match self {
            Self::Settings(_) => true,
            Self::Pool(error) => error.is_configuration(),
            Self::Schemas(_) => false,
            Self::Consumer(error) => error.settings_code().is_some(),
        }
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
    // When the consumer ends for whatever reason, the other two are asked to end too.
    let shutdown = context.shutdown.child_token();
    let missing = channels.missing().collect();
    let sender = Sender::new(pool.clone(), channels, pace, Arc::clone(&wake), context.health.clone());
    let watch = Watch::new(pool.clone(), context.health.clone(), missing, pace.poll_interval);
    let effect = OfFacts::new(Intents::new(wake))?;
    let options = waybill_subscription::facts(&context, GROUP);
    let consuming = waybill_subscription::consume(&context, options, pool, effect, shutdown.clone());
    let (consumed, (), ()) =
        tokio::join!(consuming, sender.run(shutdown.clone()), watch.run(shutdown.clone()));
    Ok(consumed?)
}
