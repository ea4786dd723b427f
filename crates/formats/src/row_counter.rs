//! Counts the rows of a file that is read back, in bounded memory, and knows whether the file is whole.

use crate::csv_file::{self, Records};
use crate::decompressor::Decompressor;
use crate::error::ReadBackError;
use crate::file_kind::{FileKind, Format};
use crate::parquet_file::Footer;

/// Takes a file's bytes in pieces of any size.
#[derive(Debug)]
pub struct RowCounter {
    decompressor: Decompressor,
    rows: Rows,
}

#[derive(Debug)]
enum Rows {
    Csv { records: Records, header: bool },
    Ndjson { lines: u64, last: Option<u8> },
    Parquet(Footer),
}

impl RowCounter {
    /// A counter for files of this kind.
    ///
    /// # Errors
    /// When the decompressor refuses to begin.
    pub fn new(kind: FileKind) -> Result<Self, ReadBackError> {
        let rows = match kind.format() {
            Format::Csv(options) => Rows::Csv { records: Records::default(), header: options.header },
            Format::Ndjson(_) => Rows::Ndjson { lines: 0, last: None },
            Format::Parquet(_) => Rows::Parquet(Footer::default()),
        };
        let decompressor = Decompressor::new(kind.compression()).map_err(ReadBackError::Compression)?;
        Ok(Self { decompressor, rows })
    }

    /// Takes the next bytes of the file.
    ///
    /// # Errors
    /// When they are none of such a file.
    pub fn update(&mut self, piece: &[u8]) -> Result<(), ReadBackError> {
        let rows = &mut self.rows;
        self.decompressor.update(piece, |piece| rows.update(piece)).map_err(ReadBackError::Compression)
    }

    /// The rows of the whole file.
    ///
    /// # Errors
    /// When the file is not whole.
    pub fn finish(self) -> Result<u64, ReadBackError> {
        let mut rows = self.rows;
        self.decompressor.finish(|piece| rows.update(piece)).map_err(ReadBackError::Compression)?;
        match rows {
            Rows::Csv { records, .. } if records.is_cut() => {
                Err(ReadBackError::Cut { problem: "it ends in the middle of a record" })
            }
            Rows::Csv { records, header: true } if records.count() == 0 => {
                Err(ReadBackError::Cut { problem: "its header is missing" })
            }
            Rows::Csv { records, header } => Ok(csv_file::rows(&records, header)),
            Rows::Ndjson { last: Some(last), .. } if last != b'\n' => {
                Err(ReadBackError::Cut { problem: "it ends in the middle of a line" })
            }
            Rows::Ndjson { lines, .. } => Ok(lines),
            Rows::Parquet(footer) => footer.rows(),
        }
    }
}

impl Rows {
    fn update(&mut self, piece: &[u8]) {
        match self {
            Self::Csv { records, .. } => records.update(piece),
            Self::Ndjson { lines, last } => {
                *lines += memchr::memchr_iter(b'\n', piece).count() as u64;
                *last = piece.last().copied().or(*last);
            }
            Self::Parquet(footer) => footer.update(piece),
        }
    }
}
