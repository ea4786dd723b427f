//! The commands written for an export.
