//! Makes a file of the bytes that a COPY gives.

use bytes::BytesMut;

use crate::compressor::Compressor;
use crate::csv_file::CsvEncoder;
use crate::error::EncodeError;
use crate::file_kind::Format;
use crate::ndjson_file::NdjsonEncoder;
use crate::parquet_file::ParquetEncoder;
use crate::plan::Plan;

/// Takes the bytes of a COPY in pieces of any size and gives those of the file.
///
/// Memory is bounded by the longest row, and for Parquet by a row group besides, whatever the file's size. An encoder
/// that has refused a piece refuses everything that follows.
#[derive(Debug)]
pub struct Encoder {
    rows: Rows,
    compressor: Option<Compressor>,
    broken: bool,
}

#[derive(Debug)]
enum Rows {
    Csv(CsvEncoder),
    Ndjson(NdjsonEncoder),
    Parquet(Box<ParquetEncoder>),
}

impl Encoder {
    pub(crate) fn new(plan: &Plan) -> Result<Self, EncodeError> {
        let kind = plan.kind();
        let columns = plan.columns();
        let rows = match kind.format() {
            Format::Csv(options) => Rows::Csv(CsvEncoder::new(columns, options)),
            Format::Ndjson(options) => Rows::Ndjson(NdjsonEncoder::new(columns, options)),
            Format::Parquet(options) => Rows::Parquet(Box::new(ParquetEncoder::new(columns, options)?)),
        };
        Ok(Self { rows, compressor: Compressor::new(kind.compression())?, broken: false })
    }

    /// Takes the next bytes of the COPY and appends to `out` what is ready of the file, which may be nothing.
    ///
    /// # Errors
    /// When the bytes are not what COPY writes, or hold a value that the file cannot.
    pub fn write(&mut self, piece: &[u8], out: &mut BytesMut) -> Result<(), EncodeError> {
        if self.broken {
            return Err(EncodeError::Broken);
        }
        let written = match &mut self.compressor {
            None => self.rows.write(piece, out),
            Some(compressor) => self
                .rows
                .write(piece, compressor.block())
                .and_then(|()| compressor.drain(out).map_err(EncodeError::Compression)),
        };
        self.broken = written.is_err();
        written
    }

    /// The rows so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        match &self.rows {
            Rows::Csv(csv) => csv.rows(),
            Rows::Ndjson(ndjson) => ndjson.rows(),
            Rows::Parquet(parquet) => parquet.rows(),
        }
    }

    /// Ends the file and appends its last bytes to `out`. `rows_sent` is how many rows the server says it sent.
    ///
    /// # Errors
    /// When the COPY did not come to its end, or the file has another number of rows. Then there is no file.
    pub fn finish(mut self, rows_sent: u64, out: &mut BytesMut) -> Result<u64, EncodeError> {
        if self.broken {
            return Err(EncodeError::Broken);
        }
        let last = self.compressor.as_mut().map_or(&mut *out, Compressor::block);
        let written = match &mut self.rows {
            Rows::Csv(csv) => csv.finish(last)?,
            Rows::Ndjson(ndjson) => ndjson.finish()?,
            Rows::Parquet(parquet) => parquet.finish(last)?,
        };
        if written != rows_sent {
            return Err(EncodeError::RowsDiffer { sent: rows_sent, written });
        }
        if let Some(compressor) = self.compressor {
            compressor.finish(out)?;
        }
        Ok(written)
    }
}

impl Rows {
    fn write(&mut self, piece: &[u8], out: &mut BytesMut) -> Result<(), EncodeError> {
        match self {
            Self::Csv(csv) => csv.write(piece, out),
            Self::Ndjson(ndjson) => ndjson.write(piece, out),
            Self::Parquet(parquet) => parquet.write(piece, out),
        }
    }
}
