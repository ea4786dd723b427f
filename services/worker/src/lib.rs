//! Claims jobs under a fence and makes their files.
//!
//! A command, a freed slot or a timer makes the worker look for due work; a claim is one transaction; an attempt makes
//! one candidate file, verifies it, and selects it in one fenced transaction with its fact. Deliberately absent: a
//! decision that the job's row does not carry, an object that no row announced, and anything that a worker which
//! lost its fence could still change.

mod attempt_error;
mod candidate_file;
mod claiming;
pub mod codes;
mod commands;
mod database;
mod dispatch;
mod encoding;
mod execution;
mod heartbeat;
mod lease;
pub mod metrics;
mod object_key;
mod off_thread;
mod recording;
mod settling;
mod source;
mod source_fault;

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Pool;
use jiff::SignedDuration;
use tokio::sync::mpsc;
use uuid::Uuid;
use waybill_consumer::{ConsumerError, ConsumerOptions};
use waybill_contract::{SchemaError, Schemas};
use waybill_objects::{Objects, ObjectsError, Place};
use waybill_publication::{PublicationError, Publisher};
use waybill_runtime::codes::ROLE_FAILED;
use waybill_runtime::{Context, PoolError, RoleError, Schema, Sources};

pub use claiming::{Claimed, claim_next};
pub use database::DatabaseError;
pub use execution::execute;
pub use metrics::Outcome;
pub use settling::{Settled, complete};

/// The consumer group of all workers, without the deployment's prefix.
pub const CONSUMER_GROUP: &str = "waybill.worker";

/// What every attempt of one worker process works with.
#[derive(Debug)]
pub struct Worker {
    /// Whose attempts these are: unique to this process, and readable.
    pub name: String,
    /// The database of exports.
    pub export: Pool,
    /// The databases that the data sets lie in.
    pub sources: Sources,
    /// Where candidates go.
    pub objects: Objects,
    /// Writes the facts.
    pub publisher: Publisher,
    /// How long a claim holds without a heartbeat.
    pub lease: Duration,
    /// How often a lease is renewed.
    pub heartbeat: Duration,
}

impl Worker {
    fn from_context(context: &Context) -> Result<Self, Error> {
        let config = &context.config;
        Ok(Self {
            name: new_name(),
            export: context.pool(Schema::Export)?,
            sources: context.sources(),
            objects: Place::parse(&config.object_store.url, config.object_store.settings.iter())?
                .to_write()?,
            publisher: Publisher::new(&config.deployment.source, context.topic_prefix())?,
            lease: config.worker.lease(),
            heartbeat: config.worker.heartbeat(),
        })
    }

    fn signed_lease(&self) -> SignedDuration {
        SignedDuration::try_from(self.lease).unwrap_or(SignedDuration::MAX)
    }
}

/// The process id for whoever looks at the machine, the random part for two machines that share one.
fn new_name() -> String {
    format!("{}-{}", std::process::id(), Uuid::new_v4().simple())
}

/// Why the worker ended though nobody asked it to. A lost connection is none of these.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A database's settings cannot be used.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// The object store cannot be used.
    #[error(transparent)]
    Objects(#[from] ObjectsError),
    /// No fact could be published with these settings.
    #[error(transparent)]
    Publication(#[from] PublicationError),
    /// The schemas of this build cannot be used.
    #[error(transparent)]
    Schemas(#[from] SchemaError),
    /// The consumer of commands ended.
    #[error(transparent)]
    Consumer(#[from] ConsumerError),
}

impl RoleError for Error {
    fn code(&self) -> &'static str {
        match self {
            Self::Pool(error) => error.code(),
            Self::Objects(error) => error.code(),
            Self::Publication(error) => error.settings_code().unwrap_or(ROLE_FAILED),
            Self::Schemas(_) => ROLE_FAILED,
            Self::Consumer(error) => error.settings_code().unwrap_or(ROLE_FAILED),
        }
    }

    fn is_configuration(&self) -> bool {
        match self {
            Self::Pool(error) => error.is_configuration(),
            Self::Objects(error) => error.is_configuration(),
            Self::Publication(error) => error.settings_code().is_some(),
            Self::Schemas(_) => false,
            Self::Consumer(error) => error.settings_code().is_some(),
        }
    }
}

/// Runs the worker until its context is shut down.
///
/// # Errors
/// The settings cannot be used, or the consumer of commands ended for good.
pub async fn run(context: Context) -> Result<(), Error> {
    let worker = Arc::new(Worker::from_context(&context)?);
    let settings = &context.config.worker;
    let slots = dispatch::Slots { count: settings.slots, poll_interval: settings.poll_interval() };
    let (wake_ups, woken) = mpsc::channel(dispatch::WAKE_UPS_MAX);
    let effect = commands::CommandWakeUps { schemas: Schemas::embedded()?, wake_ups };
    let options = ConsumerOptions {
        // Every batch is the same wake-up: one at a time asks once, and leaves the pool to the attempts.
        batches_in_flight_max: 1,
        ..waybill_subscription::commands(&context, CONSUMER_GROUP)
    };
    tracing::info!(worker = worker.name, slots = slots.count, "looking for work");

    // When the consumer ends for whatever reason, the dispatcher is asked to end too.
    let shutdown = context.shutdown.child_token();
    let consumer =
        waybill_subscription::consume(&context, options, worker.export.clone(), effect, shutdown.clone());
    let dispatcher = dispatch::run(worker, slots, woken, context.health.clone(), shutdown.clone());
    let (consumed, ()) = tokio::join!(consumer, dispatcher);
    Ok(consumed?)
}
