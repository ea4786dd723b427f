//! Why there is no object store: one slug each, with a page in `docs/errors/`.

/// `[object_store] url` is no directory that could be used.
pub const OBJECT_STORE_URL_INVALID: &str = "object-store-url-invalid";
/// The directory of `[object_store] url` cannot be made.
pub const OBJECT_STORE_UNAVAILABLE: &str = "object-store-unavailable";
