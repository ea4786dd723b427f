use std::error::Error;

use tokio_postgres::error::SqlState;

use super::{Schema, codes};

/// Why a schema cannot be used or migrated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MigrationError {
    /// The stored version is not the one that this Waybill knows.
    #[error("schema `{schema}` has version {stored}, and this waybill knows version {known}")]
    OtherVersion {
        /// The schema.
        schema: Schema,
        /// The stored version; 0 when it was never migrated.
        stored: i32,
        /// This Waybill's.
        known: i32,
    },
    /// The login may not read the schema's version.
    #[error("the version of schema `{schema}` cannot be read")]
    HistoryUnreadable {
        /// The schema.
        schema: Schema,
        /// What Postgres said.
        source: tokio_postgres::Error,
    },
    /// A migration was refused, by Postgres or because the recorded ones are others than ours.
    #[error("schema `{schema}` was not migrated")]
    Migration {
        /// The schema.
        schema: Schema,
        /// What the runner said.
        source: Box<dyn Error + Send + Sync>,
    },
    /// Postgres refused a statement around the migrations, or the connection was lost.
    #[error("postgres refused a step of the migration")]
    Postgres(#[from] tokio_postgres::Error),
}

impl MigrationError {
    /// The slug of this error.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::OtherVersion { .. } => codes::SCHEMA_VERSION_UNKNOWN,
            Self::HistoryUnreadable { .. } => codes::SCHEMA_HISTORY_UNREADABLE,
            Self::Migration { .. } | Self::Postgres(_) => match self.sql_state() {
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
            Self::OtherVersion { stored, known, .. } if stored > known => {
                "a newer waybill has migrated this database; run that version"
            }
            Self::OtherVersion { .. } => "waybill migrate apply",
            Self::HistoryUnreadable { .. } => "waybill migrate apply grants it",
            Self::Migration { .. } | Self::Postgres(_) => match self.sql_state() {
                Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
                    "migrate as the owner of the database, with CREATEROLE, or as a superuser"
                }
                Some(&SqlState::LOCK_NOT_AVAILABLE) => "run it again when the long transaction is over",
                _ => "what was recorded stays applied; mend the cause and run it again",
            },
        }
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

/// The driver's error, however deep the runner has put it.
pub(super) fn postgres<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a tokio_postgres::Error> {
    let mut error = Some(error);
    while let Some(current) = error {
        if let Some(found) = current.downcast_ref() {
            return Some(found);
        }
        error = current.source();
    }
    None
}

/// Whether the connection was lost or never there.
pub(super) fn is_away(error: &tokio_postgres::Error) -> bool {
    error.is_closed()
        || error.code().is_none_or(|code| code.code().starts_with("57P") || code.code().starts_with("08"))
}
