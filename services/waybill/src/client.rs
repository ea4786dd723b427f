//! The operator commands' way to the api.
