//! The lifecycles and identities of an export as pure decisions.
