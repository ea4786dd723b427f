//! The codes that an operator can see from the reconciler. Each has a page in `docs/errors`.

/// The outbox has partitions for fewer days ahead than it should.
pub const OUTBOX_PARTITIONS_LOW: &str = "outbox-partitions-low";
/// The database of exports could not be reached, or broke off.
pub const EXPORT_DATABASE_UNAVAILABLE: &str = "export-database-unavailable";
/// What an outbox need not keep any longer could not be dropped.
pub const OUTBOX_RETENTION_FAILING: &str = "outbox-retention-failing";
/// A partition of the outbox is old enough to go and holds a row that was not relayed.
pub const OUTBOX_PARTITION_KEPT: &str = "outbox-partition-kept";
/// The object store could not be reached, or refused.
pub const OBJECT_STORE_UNAVAILABLE: &str = "object-store-unavailable";
/// Files are condemned though their rows say that they are needed.
pub const CONDEMNED_BUT_NEEDED: &str = "condemned-but-needed";
/// The object store holds objects that no row knows.
pub const OBJECTS_UNKNOWN: &str = "objects-unknown";
