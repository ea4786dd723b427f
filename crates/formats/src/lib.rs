//! The exact conversion of Postgres rows into files: CSV, NDJSON and Parquet, plain or compressed.

pub mod codes;
mod column;
mod compressor;
mod copy_binary;
mod csv_file;
mod decompressor;
mod encoder;
mod error;
mod file_kind;
mod ndjson_file;
mod parquet_file;
mod plan;
mod reading;
mod row_counter;
mod session;
mod statement;
mod value;

pub use column::{ArrayOf, Column, DESCRIBE_TYPES, PgType, TypeKind};
pub use encoder::Encoder;
pub use error::{EncodeError, PlanError, Problem, ReadBackError};
pub use file_kind::{
    Compression, CsvOptions, Delimiter, FileKind, Format, NdjsonOptions, ParquetOptions, WideNumbers,
};
pub use plan::{Plan, PlannedColumn};
pub use row_counter::RowCounter;
pub use session::SESSION_SETTINGS;
pub use statement::SOURCE_ALIAS;
