//! Avro schemas, what a change of one does to readers, and decoding with a reader's schema.
//!
//! Deliberately absent: files, registries, subjects and clocks. It is told texts and answers what follows from them.

mod canonical;
mod compatibility;
mod defaults;
mod error;
mod incompatibility;
mod json;
mod json_reader;
mod level;
mod logical;
mod name;
mod parser;
mod pointer;
mod resolution;
mod sameness;
mod schema;
mod text;

pub use compatibility::{INCOMPATIBILITIES_MAX, PAIRS_MAX, incompatibilities};
pub use error::{SchemaError, SchemaProblem, SyntaxError};
pub use incompatibility::{Incomparable, Incompatibility, IncompatibilityKind};
pub use json::Json;
pub use json_reader::{JSON_DEPTH_MAX, SCHEMA_BYTES_MAX};
pub use level::{Breakage, Direction, Level, UnknownLevel, breakages};
pub use logical::LogicalType;
pub use name::Name;
pub use resolution::TYPE_DEPTH_MAX;
pub use schema::{Enum, Field, Fixed, Kind, Named, Order, Primitive, Record, Schema, Type, TypeId};
pub use text::Docs;
