//! Avro schemas, what a change of one does to readers, and decoding with a reader's schema.
//!
//! What is a schema, and whether one reads what another wrote, is decided as Avro's Java library decides it (1.12.1, with its
//! defaults), because that is by which registries accept versions and most readers read. The library runs beside this one
//! in `tests/oracle`. Where the two differ, it is on purpose:
//!
//! | what | Java | here | why |
//! |---|---|---|---|
//! | a text of more than 16 MiB, or nested more than 256 deep | takes it, or overflows its stack | refused | what everybody can send has a bound |
//! | types that lie more than 512 deep in one another when each is written where it is first used | the same | refused | the same |
//! | `\ud800` without its other half in a text of the schema | takes it | refused | it is no text, and has no UTF-8 |
//! | a float's default in hexadecimal, `"0x1p3"` | takes it | refused | only Java reads such a number |
//! | a character that Unicode made a letter after the version that a Java knows | refused | taken | it depends on the Java |
//! | reasons after the 1,000th, which one record used in many places makes | gives them all, or runs out of memory | left out | a bound |
//! | schemas with more than 500,000 pairs of types to compare | compares them | no answer | a bound |
//! | a reader's field that means two fields of the writer | throws | no answer, which breaks every level | an exception is no answer |
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
