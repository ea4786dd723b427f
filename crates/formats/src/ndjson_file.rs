//! NDJSON: a JSON object a row, its members in the order of the columns, NULL as null.

mod escape;
mod json_type;
mod json_value;

use bytes::BytesMut;

use crate::copy_binary::{Fields, Rows};
use crate::error::EncodeError;
use crate::file_kind::NdjsonOptions;
use crate::plan::PlannedColumn;
use crate::reading::Shape;
use crate::value::Fault;
pub(crate) use json_type::json_type;

/// Makes an NDJSON file.
#[derive(Debug)]
pub(crate) struct NdjsonEncoder {
    stream: Rows,
    columns: Vec<Member>,
    options: NdjsonOptions,
}

/// A column, with what stands before its value in each object.
#[derive(Debug)]
struct Member {
    name: String,
    before: Box<[u8]>,
    shape: Shape,
}

impl NdjsonEncoder {
    pub(crate) fn new(columns: &[PlannedColumn], options: NdjsonOptions) -> Self {
        let columns: Vec<Member> =
            columns.iter().enumerate().map(|(at, column)| Member::new(at, column)).collect();
        Self { stream: Rows::new(u16::try_from(columns.len()).unwrap_or(u16::MAX)), columns, options }
    }

    pub(crate) fn write(&mut self, piece: &[u8], out: &mut BytesMut) -> Result<(), EncodeError> {
        let Self { stream, columns, options } = self;
        stream.feed(piece, |row, fields| object(columns, *options, row, fields, out))
    }

    pub(crate) fn rows(&self) -> u64 {
        self.stream.rows()
    }

    pub(crate) fn finish(&self) -> Result<u64, EncodeError> {
        self.stream.finish()?;
        Ok(self.stream.rows())
    }
}

impl Member {
    fn new(at: usize, column: &PlannedColumn) -> Self {
        let mut before = BytesMut::from(if at == 0 { "{\"" } else { ",\"" });
        escape::text(&column.name, &mut before);
        before.extend_from_slice(b"\":");
        Self { name: column.name.clone(), before: before.to_vec().into(), shape: column.shape }
    }
}

fn object(
    columns: &[Member],
    options: NdjsonOptions,
    row: u64,
    mut fields: Fields<'_>,
    out: &mut BytesMut,
) -> Result<(), EncodeError> {
    for column in columns {
        out.extend_from_slice(&column.before);
        let written = match (fields.next_value(), column.shape) {
            (None, _) => {
                out.extend_from_slice(b"null");
                Ok(())
            }
            (Some(value), Shape::One(wire)) => json_value::one(value, wire, options, out),
            (Some(value), Shape::List(wire)) => json_value::list(value, wire, options, out),
        };
        written.map_err(|fault| fault.at(row, &column.name))?;
    }
    out.extend_from_slice(b"}\n");
    Ok(())
}

impl Fault {
    /// The error of this fault in a row and a column.
    pub(crate) fn at(self, row: u64, column: &str) -> EncodeError {
        let column = column.to_owned();
        match self {
            Self::Unfit(problem) => EncodeError::Value { row, column, problem },
            Self::Malformed(problem) => EncodeError::MalformedValue { row, column, problem },
        }
    }
}
