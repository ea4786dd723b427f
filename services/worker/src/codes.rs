//! The codes that an operator, and partly a caller, can see from the worker. Each has a page in `docs/errors`.

/// What is stored of the data set's revision is of another version of Waybill.
pub const DATASET_REVISION_UNREADABLE: &str = "dataset-revision-unreadable";
/// The data set's relation or its schema does not exist.
pub const DATASET_RELATION_MISSING: &str = "dataset-relation-missing";
/// A column of the export, of its filters, of its order or of the tenant does not exist.
pub const DATASET_COLUMN_MISSING: &str = "dataset-column-missing";
/// Such a column has another type than when the data set was applied.
pub const DATASET_COLUMN_CHANGED: &str = "dataset-column-changed";
/// The worker's role may not read the data set.
pub const DATASET_PERMISSION_DENIED: &str = "dataset-permission-denied";
/// The data set's database refused the query for a reason that will not pass.
pub const DATASET_QUERY_REFUSED: &str = "dataset-query-refused";
/// The data set's database could not be reached, or broke off.
pub const DATASET_UNAVAILABLE: &str = "dataset-unavailable";
/// The statement that reads the data set ran longer than its `statement_timeout`, or somebody cancelled it.
pub const DATASET_STATEMENT_TIMEOUT: &str = "dataset-statement-timeout";
/// A standby cancelled the snapshot because its replay had to go on.
pub const SNAPSHOT_CANCELLED: &str = "snapshot-cancelled";
/// The rows were not read within the data set's `max_snapshot_age`.
pub const SNAPSHOT_TOO_OLD: &str = "snapshot-too-old";
/// The object store could not be reached, refused or has no space.
pub const OBJECT_STORE_UNAVAILABLE: &str = "object-store-unavailable";
/// The object that was read back is not the one that was written.
pub const OBJECT_DIFFERS: &str = "object-differs";
/// The attempt took longer than any attempt may.
pub const ATTEMPT_DEADLINE_EXCEEDED: &str = "attempt-deadline-exceeded";
/// The worker panicked while it made the file.
pub const ATTEMPT_PANICKED: &str = "attempt-panicked";
/// The worker was told to stop while it worked.
pub const WORKER_STOPPED: &str = "worker-stopped";
/// Another generation, or an end, came in between; the attempt's work counts for nothing.
pub const ATTEMPT_FENCED: &str = "attempt-fenced";
/// The attempt could not renew its lease until it ran out.
pub const LEASE_LOST: &str = "lease-lost";
/// A job took more workers down than any job may and waits for a person.
pub const EXPORT_QUARANTINED: &str = "export-quarantined";
/// The database of exports could not be reached, or broke off.
pub const EXPORT_DATABASE_UNAVAILABLE: &str = "export-database-unavailable";
