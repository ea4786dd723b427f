//! The codes by which an operator sees this role. Each is a page in `docs/errors/`.

/// No generation of the projection is active, so there is nothing to apply facts to.
pub const SEARCH_NO_ACTIVE_GENERATION: &str = "search-no-active-generation";
