//! What a person decided, append-only.
