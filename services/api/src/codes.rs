//! Every code that a caller can be answered with. Each has its page in `docs/errors`.

/// The request carries no API key.
pub const AUTHENTICATION_REQUIRED: &str = "authentication-required";
/// The API key is malformed, unknown, or its secret is wrong.
pub const API_KEY_INVALID: &str = "api-key-invalid";
/// The API key's time is over.
pub const API_KEY_EXPIRED: &str = "api-key-expired";
/// Somebody revoked the API key.
pub const API_KEY_REVOKED: &str = "api-key-revoked";
/// The API key lacks the scope that the request needs.
pub const SCOPE_MISSING: &str = "scope-missing";
/// The caller's tenant is suspended.
pub const TENANT_SUSPENDED: &str = "tenant-suspended";
/// An operator's key was used where only a tenant's has something to see.
pub const TENANT_REQUIRED: &str = "tenant-required";

/// The tenant has as much as it may have.
pub const QUOTA_EXCEEDED: &str = "quota-exceeded";

/// The request needs an `Idempotency-Key` and has none.
pub const IDEMPOTENCY_KEY_REQUIRED: &str = "idempotency-key-required";
/// The `Idempotency-Key` is too long, or holds what no header should.
pub const IDEMPOTENCY_KEY_INVALID: &str = "idempotency-key-invalid";
/// The intent stands already, for a request that says something else.
pub const INTENT_MISMATCH: &str = "intent-mismatch";
/// The request's body is larger than the bound.
pub const BODY_TOO_LARGE: &str = "body-too-large";
/// The request's body is not declared as JSON.
pub const MEDIA_TYPE_UNSUPPORTED: &str = "media-type-unsupported";

/// No resource has this path.
pub const ROUTE_NOT_FOUND: &str = "route-not-found";
/// The resource does not know this method.
pub const METHOD_NOT_ALLOWED: &str = "method-not-allowed";
/// The caller's tenant has no such export.
pub const EXPORT_NOT_FOUND: &str = "export-not-found";
/// The export has no result to read, yet or ever.
pub const EXPORT_NOT_READY: &str = "export-not-ready";
/// The result's time is over; its file is gone.
pub const RESULT_EXPIRED: &str = "result-expired";
/// The export was deleted; its file is gone.
pub const EXPORT_DELETED: &str = "export-deleted";
/// The end of an attempt whose export was cancelled.
pub const EXPORT_CANCELLED: &str = "export-cancelled";
/// An export waits for an operator's decision.
pub const EXPORT_QUARANTINED: &str = "export-quarantined";
/// The file has none of the bytes that are wanted.
pub const RANGE_NOT_SATISFIABLE: &str = "range-not-satisfiable";
/// The selected result is not in the object store as it was verified.
pub const RESULT_MISSING: &str = "result-missing";

/// There is no such tenant.
pub const TENANT_NOT_FOUND: &str = "tenant-not-found";
/// There is no such service account.
pub const SERVICE_ACCOUNT_NOT_FOUND: &str = "service-account-not-found";
/// There is no such API key.
pub const API_KEY_NOT_FOUND: &str = "api-key-not-found";
/// The API key no longer works, so that it has nothing to hand on.
pub const API_KEY_ENDED: &str = "api-key-ended";
/// Another one has that name.
pub const NAME_TAKEN: &str = "name-taken";
/// There is no such data set, or no such revision of it.
pub const DATASET_NOT_FOUND: &str = "dataset-not-found";
/// A data set's file is not as one has to be.
pub const DATASET_FILE_INVALID: &str = "dataset-file-invalid";
/// What a data set declares does not fit its database.
pub const DATASET_CHECK_FAILED: &str = "dataset-check-failed";
/// The configuration has no source of the name that a data set says.
pub const SOURCE_UNKNOWN: &str = "source-unknown";
/// The database that a data set lies in cannot be reached.
pub const SOURCE_UNAVAILABLE: &str = "source-unavailable";
/// What is asked for, as it is written, is nothing that can be had here and now.
pub const REQUEST_UNFIT: &str = "request-unfit";
/// The format cannot hold a column exactly.
pub const COLUMN_NOT_EXPORTABLE: &str = "column-not-exportable";
/// The export's state does not allow what was decided.
pub const TRANSITION_NOT_ALLOWED: &str = "transition-not-allowed";
/// The failure of an export that a person ended.
pub const EXPORT_GIVEN_UP: &str = "export-given-up";

/// Nobody knows whether the request was carried out; the same request again finds out.
pub const OUTCOME_UNKNOWN: &str = "outcome-unknown";
/// More requests are being worked on than the bound, or all database connections are in use.
pub const OVERLOADED: &str = "overloaded";
/// The request took longer than the bound.
pub const REQUEST_TIMEOUT: &str = "request-timeout";
/// The database cannot be reached or does not take writes.
pub const DATABASE_UNAVAILABLE: &str = "database-unavailable";
/// The object store cannot be reached.
pub const OBJECT_STORE_UNAVAILABLE: &str = "object-store-unavailable";
/// A defect of ours, or a stored value that this version does not know.
pub const INTERNAL_ERROR: &str = "internal-error";
