//! The facts published about an export.
