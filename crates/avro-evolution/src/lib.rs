//! Avro schemas, what a change of one does to readers, and decoding with a reader's schema.
//!
//! What is a schema, and whether one reads what another wrote, is decided as Avro's Java library decides it (1.12.1, with its
//! defaults), because that is by which registries accept versions and most readers read. The library runs beside this one
//! in `tests/oracle`. Where the two differ, it is on purpose:
//!
//! - **A text of more than 16 MiB, one nested more than 256 deep, and types that lie more than 512 deep in one another**
//!   when each is written where it is first used, are refused; Java takes them, or overflows its stack. What anybody can
//!   send has a bound.
//! - **`\ud800` without its other half** is refused in a schema's texts: it is no text, and has no UTF-8. Java takes it.
//! - **A float's default in hexadecimal**, `"0x1p3"`, is refused: only Java reads such a number.
//! - **Which characters are letters** is Unicode's to say; a Java knows the version of its day, and refuses younger ones.
//! - **Reasons after the 1,000th** are left out, where one record that is used in many places repeats its own; and of **more than
//!   500,000 pairs of types** there is no answer. Java goes on until its memory ends.
//! - **A reader's field that means two of the writer's** is no answer, which breaks every level; Java throws.
//!
//! Deliberately absent: files, registries, subjects and clocks. It is told texts and answers what follows from them.

mod canonical;
mod compatibility;
mod compile;
mod decode;
mod decode_error;
mod default_bytes;
mod defaults;
mod deserializer;
mod encode;
mod encode_error;
mod error;
mod incompatibility;
mod json;
mod json_reader;
mod level;
mod logical;
mod name;
mod parser;
mod plan;
mod pointer;
mod resolution;
mod sameness;
mod schema;
mod serializer;
mod text;
mod value;
mod wire;

pub use compatibility::{INCOMPATIBILITIES_MAX, PAIRS_MAX, incompatibilities};
pub use decode_error::DecodeError;
pub use encode_error::{EncodeError, EncodeProblem};
pub use error::{SchemaError, SchemaProblem, SyntaxError};
pub use incompatibility::{Incomparable, Incompatibility, IncompatibilityKind};
pub use json::Json;
pub use json_reader::{JSON_DEPTH_MAX, SCHEMA_BYTES_MAX};
pub use level::{Breakage, Direction, Level, UnknownLevel, breakages};
pub use logical::LogicalType;
pub use name::Name;
pub use plan::{BYTELESS_ITEMS_MAX, DEFAULTS_BYTES_MAX, Plan, VALUE_DEPTH_MAX};
pub use resolution::TYPE_DEPTH_MAX;
pub use schema::{Enum, Field, Fixed, Kind, Named, Order, Primitive, Record, Schema, Type, TypeId};
pub use text::Docs;
pub use value::Value;
