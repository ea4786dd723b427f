use std::error::Error;

use tokio_postgres::error::SqlState;

use super::codes;
use super::error::{MigrationError, is_away, postgres};

/// Why an outbox was not installed, or cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// The schema holds something that this did not put there.
    #[error("schema `{schema}` holds {found}, which no installation put there")]
    Foreign {
        /// The schema.
        schema: String,
        /// What was found.
        found: String,
    },
    /// A role that is to be granted something is not there.
    #[error("there is no role `{role}`")]
    RoleMissing {
        /// The role.
        role: String,
    },
    /// Names and ids are compared and counted in UTF-8, as Kafka has them.
    #[error("the database is encoded as {encoding}, and an outbox needs UTF8")]
    Encoding {
        /// The database's.
        encoding: String,
    },
    /// The stored version is one that this Waybill no longer works with.
    #[error("the outbox in schema `{schema}` has version {stored}, and this waybill knows version {known}")]
    Older {
        /// The schema.
        schema: String,
        /// The stored version; 0 when there is no outbox.
        stored: i32,
        /// This Waybill's.
        known: i32,
    },
    /// The stored version is one that this Waybill does not know yet.
    #[error("the outbox in schema `{schema}` has version {stored}, and this waybill knows version {known}")]
    Newer {
        /// The schema.
        schema: String,
        /// The stored version.
        stored: i32,
        /// This Waybill's.
        known: i32,
    },
    /// The login may not see what was installed.
    #[error("the version of the outbox in schema `{schema}` cannot be read")]
    HistoryUnreadable {
        /// The schema.
        schema: String,
        /// What Postgres said.
        source: tokio_postgres::Error,
    },
    /// A migration was refused, by Postgres or because the recorded ones are others than ours.
    #[error("the outbox in schema `{schema}` was not migrated")]
    Migration {
        /// The schema.
        schema: String,
        /// What the runner said.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The roles could not be looked for.
    #[error("the roles could not be looked for")]
    Roles(#[source] MigrationError),
    /// Postgres refused a statement around the migrations, or the connection was lost.
    #[error("postgres refused a step of the installation")]
    Postgres(#[from] tokio_postgres::Error),
}

impl InstallError {
    /// The slug of this error.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Foreign { .. } => codes::OUTBOX_SCHEMA_FOREIGN,
            Self::RoleMissing { .. } => codes::OUTBOX_ROLE_MISSING,
            Self::Encoding { .. } => codes::OUTBOX_DATABASE_UNSUITABLE,
            Self::Older { .. } | Self::Newer { .. } => codes::SCHEMA_VERSION_UNKNOWN,
            Self::HistoryUnreadable { .. } => codes::SCHEMA_HISTORY_UNREADABLE,
            Self::Migration { .. } | Self::Roles(_) | Self::Postgres(_) => match self.sql_state() {
                Some(&SqlState::INSUFFICIENT_PRIVILEGE) => codes::MIGRATION_NOT_ALLOWED,
                Some(&SqlState::LOCK_NOT_AVAILABLE) => codes::MIGRATION_LOCK_TIMEOUT,
                _ => codes::MIGRATION_FAILED,
            },
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Foreign { .. } => "give the outbox a schema of its own; `waybill migrate` keeps Waybill's",
            Self::RoleMissing { .. } => "make the role first, or leave it out",
            Self::Encoding { .. } => "use a database with ENCODING 'UTF8'",
            Self::Older { .. } => "waybill outbox install",
            Self::Newer { .. } => "a newer waybill has installed it; use that version",
            Self::HistoryUnreadable { .. } => "waybill outbox install grants it to the roles that it names",
            Self::Migration { .. } | Self::Roles(_) | Self::Postgres(_) => match self.sql_state() {
                Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
                    "install as a role with CREATE on the database, or as the owner of the schema"
                }
                Some(&SqlState::LOCK_NOT_AVAILABLE) => "run it again when the long transaction is over",
                _ => "what was recorded stays applied; mend the cause and run it again",
            },
        }
    }

    /// Whether this is an answer about what was asked for, and not a failure.
    #[must_use]
    pub const fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Foreign { .. }
                | Self::RoleMissing { .. }
                | Self::Encoding { .. }
                | Self::Older { .. }
                | Self::Newer { .. }
        )
    }

    /// Whether the schema holds no outbox at all.
    #[must_use]
    pub const fn finds_no_outbox(&self) -> bool {
        matches!(self, Self::Foreign { .. } | Self::Older { stored: 0, .. })
    }

    /// Whether the connection was lost or never there, so that the same attempt may succeed later.
    #[must_use]
    pub fn is_dependency(&self) -> bool {
        postgres(self).is_some_and(is_away)
    }

    fn sql_state(&self) -> Option<&SqlState> {
        postgres(self)?.code()
    }
}
