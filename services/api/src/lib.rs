//! The HTTP listener that callers see.
