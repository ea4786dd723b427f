//! CSV, byte for byte as Postgres' own COPY writes it.
//!
//! The rows come in binary all the same: a server spends more on writing texts than everything that is done with them
//! here. Deliberately absent: CRLF. Postgres ends records with LF.

mod csv_value;
mod quoting;
mod records;

use bytes::BytesMut;

use crate::copy_binary::{Fields, Rows};
use crate::error::EncodeError;
use crate::file_kind::CsvOptions;
use crate::plan::PlannedColumn;
use crate::reading::{Shape, Wire};
use crate::value::Fault;
use quoting::Quoting;
pub(crate) use records::Records;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Makes a CSV file.
#[derive(Debug)]
pub(crate) struct CsvEncoder {
    stream: Rows,
    columns: Vec<Field>,
    delimiter: u8,
    /// What comes before the first row, until it was written.
    head: Option<BytesMut>,
}

/// A column.
#[derive(Debug)]
struct Field {
    name: String,
    wire: Wire,
    quoting: Quoting,
}

impl CsvEncoder {
    pub(crate) fn new(columns: &[PlannedColumn], options: CsvOptions) -> Self {
        let quoting = Quoting::new(options, columns.len());
        let fields = columns.iter().map(|column| Field::new(column, quoting)).collect();
        Self {
            stream: Rows::new(u16::try_from(columns.len()).unwrap_or(u16::MAX)),
            columns: fields,
            delimiter: options.delimiter.byte(),
            head: Some(head(columns, options, quoting)),
        }
    }

    pub(crate) fn write(&mut self, piece: &[u8], out: &mut BytesMut) -> Result<(), EncodeError> {
        self.begin(out);
        let Self { stream, columns, delimiter, head: _ } = self;
        stream.feed(piece, |row, fields| record(columns, *delimiter, row, fields, out))
    }

    pub(crate) fn rows(&self) -> u64 {
        self.stream.rows()
    }

    pub(crate) fn finish(&mut self, out: &mut BytesMut) -> Result<u64, EncodeError> {
        self.begin(out);
        self.stream.finish()?;
        Ok(self.rows())
    }

    fn begin(&mut self, out: &mut BytesMut) {
        if let Some(head) = self.head.take() {
            out.extend_from_slice(&head);
        }
    }
}

impl Field {
    fn new(column: &PlannedColumn, quoting: Quoting) -> Self {
        let wire = match column.shape {
            Shape::One(wire) => wire,
            // As the plan has it, an array comes as its text.
            Shape::List(_) => Wire::Text,
        };
        // `-5` is meant to be a number.
        let quoting = if column.is_number { quoting.without_guard() } else { quoting };
        Self { name: column.name.clone(), wire, quoting }
    }
}

/// The names in a header are texts whatever is below them.
fn head(columns: &[PlannedColumn], options: CsvOptions, quoting: Quoting) -> BytesMut {
    let mut head = BytesMut::new();
    if options.byte_order_mark {
        head.extend_from_slice(BYTE_ORDER_MARK);
    }
    if options.header {
        for (at, column) in columns.iter().enumerate() {
            if at > 0 {
                head.extend_from_slice(&[options.delimiter.byte()]);
            }
            quoting.text(column.name.as_bytes(), &mut head);
        }
        head.extend_from_slice(b"\n");
    }
    head
}

fn record(
    columns: &[Field],
    delimiter: u8,
    row: u64,
    mut fields: Fields<'_>,
    out: &mut BytesMut,
) -> Result<(), EncodeError> {
    for (at, column) in columns.iter().enumerate() {
        if at > 0 {
            out.extend_from_slice(&[delimiter]);
        }
        if let Some(value) = fields.next_value() {
            let written = csv_value::one(value, column.wire, column.quoting, out);
            written.map_err(|fault: Fault| fault.at(row, &column.name))?;
        }
    }
    out.extend_from_slice(b"\n");
    Ok(())
}

/// The rows among the records: the header is none.
pub(crate) fn rows(records: &Records, header: bool) -> u64 {
    records.count().saturating_sub(u64::from(header))
}
