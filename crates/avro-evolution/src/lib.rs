//! Avro schemas, what a change of one does to readers, and decoding with a reader's schema.
//!
//! Deliberately absent: files, registries, subjects and clocks. It is told texts and answers what follows from them.

mod canonical;
mod defaults;
mod error;
mod json;
mod json_reader;
mod logical;
mod name;
mod parser;
mod pointer;
mod resolution;
mod sameness;
mod schema;
mod text;

pub use error::{SchemaError, SchemaProblem, SyntaxError};
pub use json::Json;
pub use json_reader::{JSON_DEPTH_MAX, SCHEMA_BYTES_MAX};
pub use logical::LogicalType;
pub use name::Name;
pub use resolution::TYPE_DEPTH_MAX;
pub use schema::{Enum, Field, Fixed, Kind, Named, Order, Record, Schema, Type, TypeId};
pub use text::Docs;
