//! What can go wrong, apart from what is retried.

use deadpool_postgres::PoolError as NoConnection;
use waybill_outbox::window::WindowError;
use waybill_runtime::RoleError;
use waybill_store::migrations::InstallError;

use crate::codes;

/// Why the relay ends before it is asked to. A lost connection is not among it: that is retried.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database's address or credentials cannot be used.
    #[error("the relay cannot make a pool of connections")]
    Pool(#[from] waybill_runtime::PoolError),
    /// A relay's task panicked: that is a bug.
    #[error("the relay of an outbox was lost")]
    Task(#[from] tokio::task::JoinError),
    /// librdkafka does not take the configured settings.
    #[error("no producer can be made of the settings under [kafka]")]
    Producer(#[from] rdkafka::error::KafkaError),
}

impl RoleError for Error {
    fn code(&self) -> &'static str {
        match self {
            Self::Pool(error) => error.code(),
            Self::Task(_) => codes::RELAY_TASK_LOST,
            Self::Producer(_) => codes::RELAY_PRODUCER_SETTINGS,
        }
    }

    fn is_configuration(&self) -> bool {
        match self {
            Self::Pool(error) => error.is_configuration(),
            Self::Task(_) => false,
            Self::Producer(_) => true,
        }
    }
}

/// The database did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DatabaseError {
    #[error("no connection")]
    Pool(#[from] NoConnection),
    #[error(transparent)]
    Window(#[from] WindowError),
    #[error(transparent)]
    Structure(#[from] InstallError),
    #[error("the connection carries nothing any more")]
    Silent,
}
