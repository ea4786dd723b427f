//! Why the role cannot run. What goes wrong for one request is a [`crate::problem::Problem`].

use std::net::SocketAddr;

use waybill_runtime::{RoleError, codes};

/// Why the role cannot run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A pool could not be made out of the configuration.
    #[error("a database pool could not be made")]
    Pool(#[from] waybill_runtime::PoolError),
    /// The schemas of facts and commands could not be loaded.
    #[error("facts could not be published")]
    Publication(#[from] waybill_publication::PublicationError),
    /// `[object_store]` cannot be used.
    #[error("the files of exports cannot be reached")]
    Objects(#[from] waybill_objects::ObjectsError),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}, as [api] listen says")]
    Listen {
        /// The configured address.
        address: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
}

impl RoleError for Error {
    fn code(&self) -> &'static str {
        match self {
            Self::Pool(error) => error.code(),
            Self::Publication(error) => error.settings_code().unwrap_or(codes::ROLE_FAILED),
            Self::Objects(error) => error.code(),
            Self::Listen { .. } => codes::LISTEN_FAILED,
        }
    }

    fn is_configuration(&self) -> bool {
        match self {
            Self::Pool(error) => error.is_configuration(),
            Self::Publication(error) => error.settings_code().is_some(),
            Self::Objects(error) => error.is_configuration(),
            Self::Listen { .. } => false,
        }
    }
}
