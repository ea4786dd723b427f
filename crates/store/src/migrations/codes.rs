//! The codes of migrations that an operator can see. Each has a page in `docs/errors/`.

/// A schema has a version that this Waybill does not know.
pub(super) const SCHEMA_VERSION_UNKNOWN: &str = "schema-version-unknown";
/// A role may not read a schema's version.
pub(super) const SCHEMA_HISTORY_UNREADABLE: &str = "schema-history-unreadable";
/// The schema for an outbox holds something else.
pub(super) const OUTBOX_SCHEMA_FOREIGN: &str = "outbox-schema-foreign";
/// A role that was named for an outbox does not exist.
pub(super) const OUTBOX_ROLE_MISSING: &str = "outbox-role-missing";
/// A database in which no outbox can be.
pub(super) const OUTBOX_DATABASE_UNSUITABLE: &str = "outbox-database-unsuitable";
/// A migration could not be applied.
pub(super) const MIGRATION_FAILED: &str = "migration-failed";
/// The admin may not do what a migration needs.
pub(super) const MIGRATION_NOT_ALLOWED: &str = "migration-not-allowed";
/// Something held a lock for longer than a migration waits.
pub(super) const MIGRATION_LOCK_TIMEOUT: &str = "migration-lock-timeout";
