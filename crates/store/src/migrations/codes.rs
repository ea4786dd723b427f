//! The codes of migrations that an operator can see. Each has a page in `docs/errors/`.

/// A schema has a version that this Waybill does not know.
pub(super) const SCHEMA_VERSION_UNKNOWN: &str = "schema-version-unknown";
/// A role may not read a schema's version.
pub(super) const SCHEMA_HISTORY_UNREADABLE: &str = "schema-history-unreadable";
/// A migration could not be applied.
pub(super) const MIGRATION_FAILED: &str = "migration-failed";
/// The admin may not do what a migration needs.
pub(super) const MIGRATION_NOT_ALLOWED: &str = "migration-not-allowed";
/// Something held a lock for longer than a migration waits.
pub(super) const MIGRATION_LOCK_TIMEOUT: &str = "migration-lock-timeout";
