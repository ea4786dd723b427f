//! The codes that an operator, and partly a caller, can see from the worker. Each has a page in `docs/errors`.

/// The data set is no longer registered.
pub const DATASET_UNREGISTERED: &str = "dataset-unregistered";
/// The data set's relation or its schema does not exist.
pub const DATASET_RELATION_MISSING: &str = "dataset-relation-missing";
/// A column of the export, of the key or of the tenant does not exist.
pub const DATASET_COLUMN_MISSING: &str = "dataset-column-missing";
/// The worker's role may not read the data set.
pub const DATASET_PERMISSION_DENIED: &str = "dataset-permission-denied";
/// The data set's database refused the query for a reason that will not pass.
pub const DATASET_QUERY_REFUSED: &str = "dataset-query-refused";
/// The data set's database could not be reached, or broke off.
pub const DATASET_UNAVAILABLE: &str = "dataset-unavailable";
/// The data set's database gave no byte for too long.
pub const DATASET_STALLED: &str = "dataset-stalled";
/// The object store could not be reached, refused or has no space.
pub const OBJECT_STORE_UNAVAILABLE: &str = "object-store-unavailable";
/// The object that was read back is not the one that was written.
pub const OBJECT_DIFFERS: &str = "object-differs";
/// The file has other than as many records as the snapshot has rows.
pub const ROWS_DIFFER: &str = "rows-differ";
/// The attempt took longer than any attempt may.
pub const ATTEMPT_DEADLINE_EXCEEDED: &str = "attempt-deadline-exceeded";
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
