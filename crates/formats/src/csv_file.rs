//! CSV: Postgres' own bytes passed through, and its records counted.
//!
//! Deliberately absent: a parser of fields that makes values of them, and CRLF. Postgres ends records with LF.

mod formulas;
mod records;
mod utf8;

use bytes::BytesMut;

use crate::error::EncodeError;
use crate::file_kind::CsvOptions;
use crate::plan::PlannedColumn;
use formulas::FormulaGuard;
pub(crate) use records::Records;
use utf8::Utf8;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Makes a CSV file.
#[derive(Debug)]
pub(crate) struct CsvEncoder {
    records: Records,
    utf8: Utf8,
    header: bool,
    byte_order_mark: bool,
    guard: Option<FormulaGuard>,
}

impl CsvEncoder {
    pub(crate) fn new(columns: &[PlannedColumn], options: CsvOptions) -> Self {
        let guard = options.guard_formulas.then(|| {
            let numbers = columns.iter().map(|column| column.is_number).collect();
            FormulaGuard::new(numbers, options.delimiter.byte(), options.header)
        });
        Self {
            records: Records::default(),
            utf8: Utf8::default(),
            header: options.header,
            byte_order_mark: options.byte_order_mark,
            guard,
        }
    }

    pub(crate) fn write(&mut self, piece: &[u8], out: &mut BytesMut) -> Result<(), EncodeError> {
        self.begin(out);
        if !self.utf8.update(piece) {
            return Err(EncodeError::NotUtf8 { rows: self.rows() });
        }
        self.records.update(piece);
        match &mut self.guard {
            Some(guard) => guard.write(piece, out),
            None => out.extend_from_slice(piece),
        }
        Ok(())
    }

    pub(crate) fn rows(&self) -> u64 {
        rows(&self.records, self.header)
    }

    pub(crate) fn finish(&mut self, out: &mut BytesMut) -> Result<u64, EncodeError> {
        self.begin(out);
        let problem = if self.records.is_cut() {
            Some("in the middle of a record")
        } else if self.header && self.records.count() == 0 {
            Some("its header is missing")
        } else {
            None
        };
        match problem {
            Some(problem) => Err(EncodeError::CutStream { rows: self.rows(), problem }),
            None => Ok(self.rows()),
        }
    }

    fn begin(&mut self, out: &mut BytesMut) {
        if std::mem::take(&mut self.byte_order_mark) {
            out.extend_from_slice(BYTE_ORDER_MARK);
        }
    }
}

/// The rows among the records: the header is none.
pub(crate) fn rows(records: &Records, header: bool) -> u64 {
    records.count().saturating_sub(u64::from(header))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(options: CsvOptions, pieces: &[&[u8]]) -> (Result<u64, EncodeError>, Vec<u8>) {
        let mut encoder = CsvEncoder::new(&[], options);
        let mut out = BytesMut::new();
        for piece in pieces {
            encoder.write(piece, &mut out).expect("UTF-8");
        }
        (encoder.finish(&mut out), out.to_vec())
    }

    #[test]
    fn the_header_is_no_row_and_a_mark_goes_before_it() {
        let (rows, file) = encoded(CsvOptions::default(), &[b"a,b\n", b"1,\"x\n", b"y\"\n"]);
        assert_eq!((rows.expect("whole"), file.as_slice()), (1, b"a,b\n1,\"x\ny\"\n".as_slice()));
        let options = CsvOptions { header: false, byte_order_mark: true, ..CsvOptions::default() };
        let (rows, file) = encoded(options, &[b"1\n", b"2\n"]);
        assert_eq!((rows.expect("whole"), file.as_slice()), (2, b"\xef\xbb\xbf1\n2\n".as_slice()));
        assert_eq!(encoded(options, &[]).1, BYTE_ORDER_MARK, "an empty file has its mark, too");
    }

    #[test]
    fn a_file_that_ends_early_is_no_file() {
        for file in ["", "a,b", "a,b\n1,\"x\n", "a,b\n1,"] {
            let ended = encoded(CsvOptions::default(), &[file.as_bytes()]).0;
            assert!(matches!(ended, Err(EncodeError::CutStream { .. })), "{file:?}");
        }
    }
}
