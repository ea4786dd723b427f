//! The codes of this crate that an operator can see. Each has a page in `docs/errors/`.

/// The configuration file that was asked for cannot be read.
pub const CONFIG_UNREADABLE: &str = "config-unreadable";
/// A value of the configuration is none that its key can have.
pub const CONFIG_INVALID_VALUE: &str = "config-invalid-value";
/// A key of the configuration that this version does not know.
pub const CONFIG_UNKNOWN_KEY: &str = "config-unknown-key";
/// Two values of the configuration cannot both be meant.
pub const CONFIG_CONTRADICTION: &str = "config-contradiction";
/// A secret is given twice, or its file cannot be read.
pub const CONFIG_SECRET_UNREADABLE: &str = "config-secret-unreadable";
/// A database's address or TLS settings cannot be used.
pub const DATABASE_ADDRESS_INVALID: &str = "database-address-invalid";
/// A database cannot be reached, or refuses the login.
pub const DATABASE_UNREACHABLE: &str = "database-unreachable";
/// A data set names a source that the configuration does not have.
pub const SOURCE_UNKNOWN: &str = "source-unknown";
/// A role ended with an error, or without being asked to.
pub const ROLE_FAILED: &str = "role-failed";
/// A role has not finished its start.
pub const ROLE_STARTING: &str = "role-starting";
/// A role did not end in the time that a shutdown allows.
pub const SHUTDOWN_TIMED_OUT: &str = "shutdown-timed-out";
/// A listener's address cannot be bound.
pub const LISTEN_FAILED: &str = "listen-failed";
