use crate::codes;
use crate::config::ConfigError;
use crate::role::Schema;

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError {
    /// The address is none that Postgres' drivers understand.
    #[error("the address of `database.{schema}` cannot be used")]
    Address {
        /// Whose address.
        schema: Schema,
        /// What is wrong with it.
        source: tokio_postgres::Error,
    },
    /// A parameter of the address has a value that it cannot have.
    #[error("the address of `database.{schema}` has {parameter}={value}; {expected}")]
    Parameter {
        /// Whose address.
        schema: Schema,
        /// The parameter's name.
        parameter: &'static str,
        /// Its value.
        value: String,
        /// What it could be.
        expected: &'static str,
    },
    /// A certificate or key cannot be used.
    #[error("the TLS settings of `database.{schema}` cannot be used")]
    Tls {
        /// Whose address.
        schema: Schema,
        /// What OpenSSL said.
        source: openssl::error::ErrorStack,
    },
    /// The password's file cannot be read.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The pool cannot be made.
    #[error("the pool for `database.{schema}` cannot be made")]
    Build {
        /// Whose pool.
        schema: Schema,
        /// Why not.
        source: deadpool_postgres::BuildError,
    },
    /// The server cannot be reached, or refuses the login.
    #[error("cannot connect to the database of `{schema}`")]
    Connect {
        /// Whose database.
        schema: Schema,
        /// What the driver said.
        source: tokio_postgres::Error,
    },
    /// The server did not finish the login in time.
    #[error("the database of `{schema}` did not answer within {limit_ms} ms")]
    ConnectTimeout {
        /// Whose database.
        schema: Schema,
        /// The bound.
        limit_ms: u128,
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
            Self::Address { .. } | Self::Parameter { .. } | Self::Tls { .. } | Self::NoAdmin => {
                codes::DATABASE_ADDRESS_INVALID
            }
            Self::Config(error) => error.code(),
            Self::Build { .. } | Self::Connect { .. } | Self::ConnectTimeout { .. } => {
                codes::DATABASE_UNREACHABLE
            }
        }
    }

    /// Whether the same attempt may succeed later, without anybody changing the configuration.
    #[must_use]
    pub const fn is_dependency(&self) -> bool {
        matches!(self, Self::Connect { .. } | Self::ConnectTimeout { .. })
    }
}
