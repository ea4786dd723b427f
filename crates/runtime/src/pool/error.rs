use crate::codes;
use crate::config::ConfigError;

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError {
    /// The address is none that Postgres' drivers understand.
    #[error("the address of `{place}` cannot be used")]
    Address {
        /// Whose address.
        place: String,
        /// What is wrong with it.
        source: tokio_postgres::Error,
    },
    /// A parameter of the address has a value that it cannot have.
    #[error("the address of `{place}` has {parameter}={value}; {expected}")]
    Parameter {
        /// Whose address.
        place: String,
        /// The parameter's name.
        parameter: &'static str,
        /// Its value.
        value: String,
        /// What it could be.
        expected: &'static str,
    },
    /// A certificate or key cannot be used.
    #[error("the TLS settings of `{place}` cannot be used")]
    Tls {
        /// Whose address.
        place: String,
        /// What OpenSSL said.
        source: openssl::error::ErrorStack,
    },
    /// The password's file cannot be read.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The pool cannot be made.
    #[error("the pool for `{place}` cannot be made")]
    Build {
        /// Whose pool.
        place: String,
        /// Why not.
        source: deadpool_postgres::BuildError,
    },
    /// The server cannot be reached, or refuses the login.
    #[error("cannot connect to the database of `{place}`")]
    Connect {
        /// Whose database.
        place: String,
        /// What the driver said.
        source: tokio_postgres::Error,
    },
    /// The server did not finish the login in time.
    #[error("the database of `{place}` did not answer within {limit_ms} ms")]
    ConnectTimeout {
        /// Whose database.
        place: String,
        /// The bound.
        limit_ms: u128,
    },
    /// The address names no host.
    #[error("the address of `{place}` names no host")]
    HostMissing {
        /// Whose address.
        place: String,
    },
    /// Nobody listens there.
    #[error("cannot connect to the database of `{place}`")]
    Unreachable {
        /// Whose database.
        place: String,
        /// What the network said.
        source: std::io::Error,
    },
    /// The configuration has no source of that name.
    #[error("there is no `[sources.{name}]` in the configuration")]
    SourceUnknown {
        /// The name.
        name: String,
    },
    /// A command needs the admin, and none is configured.
    #[error("`admin.postgres_url` (or WAYBILL_POSTGRES_URL) is not set")]
    NoAdmin,
}

impl PoolError {
    /// The slug of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Address { .. }
            | Self::Parameter { .. }
            | Self::Tls { .. }
            | Self::HostMissing { .. }
            | Self::NoAdmin => codes::DATABASE_ADDRESS_INVALID,
            Self::SourceUnknown { .. } => codes::SOURCE_UNKNOWN,
            Self::Config(error) => error.code(),
            Self::Build { .. }
            | Self::Connect { .. }
            | Self::Unreachable { .. }
            | Self::ConnectTimeout { .. } => codes::DATABASE_UNREACHABLE,
        }
    }

    /// Whether the same attempt may succeed later, without anybody changing the configuration.
    #[must_use]
    pub const fn is_dependency(&self) -> bool {
        matches!(self, Self::Connect { .. } | Self::Unreachable { .. } | Self::ConnectTimeout { .. })
    }
}
