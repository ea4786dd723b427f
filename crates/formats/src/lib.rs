//! The exact conversion of Postgres rows into files: CSV, NDJSON and Parquet, plain or compressed.

pub mod codes;
mod column;
mod session;

pub use column::{ArrayOf, Column, DESCRIBE_TYPES, PgType, TypeKind};
pub use session::SESSION_SETTINGS;
