//! What can go wrong here.

use waybill_objects::ObjectsError;
use waybill_publication::PublicationError;
use waybill_runtime::RoleError;
use waybill_runtime::codes::ROLE_FAILED;
use waybill_store::StoreError;
use waybill_store::migrations::InstallError;

use crate::codes;

/// Why the reconciler ended though nobody asked it to. A lost connection is none of these.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The database's settings cannot be used.
    #[error(transparent)]
    Pool(#[from] waybill_runtime::PoolError),
    /// The object store cannot be used.
    #[error(transparent)]
    Objects(#[from] ObjectsError),
    /// No command could be published with these settings.
    #[error(transparent)]
    Publication(#[from] PublicationError),
}

impl RoleError for Error {
    fn code(&self) -> &'static str {
        match self {
            Self::Pool(error) => error.code(),
            Self::Objects(error) => error.code(),
            Self::Publication(error) => error.settings_code().unwrap_or(ROLE_FAILED),
        }
    }

    fn is_configuration(&self) -> bool {
        match self {
            Self::Pool(error) => error.is_configuration(),
            Self::Objects(error) => error.is_configuration(),
            Self::Publication(error) => error.settings_code().is_some(),
        }
    }
}

/// Why one round did not commit. The next one looks at the world again.
#[derive(Debug, thiserror::Error)]
pub enum RoundError {
    /// There was no connection to be had in time.
    #[error("no connection to the database of exports")]
    Pool(#[from] deadpool_postgres::PoolError),
    /// Postgres refused a statement, or the connection broke off.
    #[error("postgres")]
    Postgres(#[from] tokio_postgres::Error),
    /// The outbox is not one of this version.
    #[error("the outbox's structure")]
    Structure(#[from] InstallError),
    /// A statement of the store failed.
    #[error("a stored row")]
    Store(#[from] StoreError),
    /// A command or a fact could not be written to the outbox.
    #[error("the outbox")]
    Publication(#[from] PublicationError),
    /// The object store refused, or did not answer.
    #[error("the object store")]
    Objects(#[from] object_store::Error),
}

impl RoundError {
    /// The code of the page that says what to do.
    pub(crate) const fn code(&self) -> &'static str {
        match self {
            Self::Objects(_) => codes::OBJECT_STORE_UNAVAILABLE,
            Self::Pool(_)
            | Self::Postgres(_)
            | Self::Structure(_)
            | Self::Store(_)
            | Self::Publication(_) => codes::EXPORT_DATABASE_UNAVAILABLE,
        }
    }
}
