//! The exact conversion of Postgres rows into files: CSV, NDJSON and Parquet, plain or compressed.
//!
//! Pure: it is given what the catalog says of columns, and then the bytes of a COPY in pieces of any size, and gives the
//! bytes of a file. It knows nothing of jobs, opens no connection and reads no clock. What becomes of each type is in
//! `docs/formats.md`, which a test compares with the code.
//!
//! # How a file is made
//! 1. **Describe.** Prepare the data set's query. Of each column of the prepared statement take the name, the type's oid and
//!    the type modifier, and bind the latter two to [`DESCRIBE_TYPES`]; its rows are what [`PgType`] wants
//!    ([`TypeKind::from_typtype`] for the two `typtype` columns). A column's declared dimensions are only known from
//!    `pg_attribute.attndims`: where the caller has them, it may put them into [`ArrayOf::dimensions`].
//! 2. **Plan.** [`FileKind::new`] puts a format and a compression together, [`Plan::new`] decides about each column. Both
//!    refuse with everything that is wrong ([`Problem`]: column, reason, what to choose instead); this needs no rows, so it
//!    belongs before a job. A column with [`Column::as_text`] is never refused for its type.
//! 3. **Read.** In the snapshot's transaction apply [`SESSION_SETTINGS`] by `set_config(name, value, true)`, then start
//!    [`Plan::copy_statement`], which is given what follows the select list:
//!    `FROM "s"."t" AS waybill_rows WHERE … ORDER BY waybill_rows."id"`. The source is called [`SOURCE_ALIAS`], and `ORDER BY`
//!    names columns by it: an unqualified name would be the output column, which may be a text that sorts otherwise.
//! 4. **Encode.** Give each piece to [`Encoder::write`] as it comes; it appends to a buffer what is ready. Take that with
//!    `split()`, hash it, upload it. A piece of Parquet gives nothing for long and then a whole row group
//!    ([`ROW_GROUP_BYTES_MAX`]).
//!    [`Encoder::rows`] is progress. Encoding is work for a processor, up to a second for a row group.
//! 5. **End.** When the COPY's stream has ended without an error, [`Encoder::finish`] with the number of rows that the server
//!    sent. It refuses a stream that was cut and a number that differs; whoever gets an error has no file.
//! 6. **Verify.** Read the stored object back through a [`RowCounter`] of the same kind and compare the rows.
//!
//! Errors have a code with a page in `docs/errors/` and never quote a value. [`codes::VALUE_NOT_EXPORTABLE`] will not pass by
//! itself; [`codes::COPY_STREAM_CUT`] and [`codes::FILE_UNREADABLE`] may.
//!
//! ```
//! use waybill_formats::{
//!     Column, Compression, CsvOptions, FileKind, Format, PgType, Plan, RowCounter, SOURCE_ALIAS, TypeKind,
//! };
//!
//! let pg_type = PgType { oid: 20, name: "bigint".into(), kind: TypeKind::Base, typmod: -1, array: None };
//! let columns = [Column { name: "id".into(), pg_type, as_text: false }];
//! let kind = FileKind::new(Format::Csv(CsvOptions::default()), Compression::Zstd)?;
//! let plan = Plan::new(&columns, kind)?;
//! let statement = plan.copy_statement(&format!("FROM orders AS {SOURCE_ALIAS}"));
//! assert!(statement.starts_with("COPY (SELECT waybill_rows.\"id\" FROM orders"));
//!
//! let mut encoder = plan.encoder()?;
//! let mut out = bytes::BytesMut::new();
//! // What a COPY in binary sends: its head, then a row of one value of 8 bytes, then its trailer.
//! encoder.write(b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", &mut out)?;
//! encoder.write(b"\0\x01\0\0\0\x08\0\0\0\0\0\0\0\x07", &mut out)?;
//! encoder.write(b"\xff\xff", &mut out)?;
//! encoder.finish(1, &mut out)?;
//!
//! let mut counter = RowCounter::new(kind)?;
//! counter.update(&out)?;
//! assert_eq!(counter.finish()?, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
pub use parquet_file::ROW_GROUP_BYTES_MAX;
pub use plan::{Plan, PlannedColumn};
pub use row_counter::RowCounter;
pub use session::SESSION_SETTINGS;
pub use statement::SOURCE_ALIAS;
