//! Parquet: rows gathered into row groups of bounded size, each column with the type that says what it is.
//!
//! A column's pages are encoded and compressed as they fill, so that what is kept until a row group's end is small.
//! Deliberately absent: Arrow, and page indexes, which only make a footer longer that every reader has to hold.

mod cell;
mod chunk;
mod column_buffer;
mod column_type;
mod footer;
mod schema;

use std::sync::Arc;

use bytes::buf::Writer;
use bytes::{BufMut as _, BytesMut};
use parquet::basic::{Compression as Codec, GzipLevel, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;

use crate::copy_binary::{Fields, Rows};
use crate::error::EncodeError;
use crate::file_kind::{Compression, ParquetOptions};
use crate::plan::PlannedColumn;
use chunk::{Chunk, Ended};
use column_buffer::ColumnBuffer;
pub(crate) use column_type::ParquetType;
use footer::FOOTER_BYTES_MAX;
pub(crate) use footer::Footer;

/// How much of the rows one row group of a Parquet file takes, as COPY gives them, and with it about how much an encoder
/// keeps and then gives at once; the row that passes it is the last one.
pub const ROW_GROUP_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How many rows one row group takes.
const ROW_GROUP_ROWS_MAX: u64 = 1 << 20;
/// How many rows go to the columns' writers at once.
const BATCH_ROWS_MAX: u64 = 2_048;
/// The same in bytes on the wire.
const BATCH_BYTES_MAX: usize = 1024 * 1024;

/// Makes a Parquet file.
pub(crate) struct ParquetEncoder {
    stream: Rows,
    file: SerializedFileWriter<Writer<BytesMut>>,
    groups: Groups,
}

/// The row group that is being gathered.
struct Groups {
    columns: Vec<ColumnBuffer>,
    properties: WriterPropertiesPtr,
    /// The columns' writers, from a row group's first batch to its end.
    chunks: Vec<Chunk>,
    batch: Extent,
    group: Extent,
}

/// How much there is of a batch or a row group.
#[derive(Debug, Clone, Copy, Default)]
struct Extent {
    rows: u64,
    bytes: usize,
}

impl ParquetEncoder {
    pub(crate) fn new(columns: &[PlannedColumn], options: ParquetOptions) -> Result<Self, EncodeError> {
        let properties = Arc::new(properties(options));
        let buffers: Vec<ColumnBuffer> = columns.iter().filter_map(ColumnBuffer::new).collect();
        let schema = schema::of(columns)?;
        let file = SerializedFileWriter::new(BytesMut::new().writer(), schema, Arc::clone(&properties))?;
        let groups = Groups {
            columns: buffers,
            properties,
            chunks: Vec::new(),
            batch: Extent::default(),
            group: Extent::default(),
        };
        let stream = Rows::new(u16::try_from(columns.len()).unwrap_or(u16::MAX));
        Ok(Self { stream, file, groups })
    }

    pub(crate) fn write(&mut self, piece: &[u8], out: &mut BytesMut) -> Result<(), EncodeError> {
        let Self { stream, file, groups } = self;
        stream.feed(piece, |row, fields| {
            groups.push(row, fields)?;
            if groups.batch.rows >= BATCH_ROWS_MAX || groups.batch.bytes >= BATCH_BYTES_MAX {
                groups.end_batch(file)?;
            }
            if groups.group.rows >= ROW_GROUP_ROWS_MAX || groups.group.bytes >= ROW_GROUP_BYTES_MAX {
                groups.end_group(file)?;
            }
            Ok(())
        })?;
        self.drain(out)
    }

    pub(crate) fn rows(&self) -> u64 {
        self.stream.rows()
    }

    pub(crate) fn finish(&mut self, out: &mut BytesMut) -> Result<u64, EncodeError> {
        self.stream.finish()?;
        self.groups.end_batch(&self.file)?;
        self.groups.end_group(&mut self.file)?;
        let before = self.file.bytes_written();
        self.file.finish()?;
        let footer = self.file.bytes_written() - before;
        if footer > FOOTER_BYTES_MAX {
            return Err(EncodeError::FooterTooLong { bytes: footer });
        }
        self.drain(out)?;
        Ok(self.rows())
    }

    /// Gives the caller what the file's writer has. An empty buffer of the caller's changes places with it.
    fn drain(&mut self, out: &mut BytesMut) -> Result<(), EncodeError> {
        self.file.flush()?;
        let written = self.file.inner_mut().get_mut();
        if out.is_empty() {
            std::mem::swap(written, out);
        } else {
            out.extend_from_slice(written);
            written.clear();
        }
        Ok(())
    }
}

impl Groups {
    fn push(&mut self, row: u64, mut fields: Fields<'_>) -> Result<(), EncodeError> {
        for column in &mut self.columns {
            let value = fields.next_value();
            self.batch.bytes += value.map_or(1, <[u8]>::len);
            column.push(value).map_err(|fault| fault.at(row, column.name()))?;
        }
        self.batch.rows += 1;
        Ok(())
    }

    /// Gives the batch to the columns' writers.
    fn end_batch(&mut self, file: &SerializedFileWriter<Writer<BytesMut>>) -> Result<(), EncodeError> {
        if self.batch.rows == 0 {
            return Ok(());
        }
        if self.chunks.is_empty() {
            let columns = file.schema_descr().columns();
            self.chunks = columns.iter().map(|column| Chunk::new(column, &self.properties)).collect();
        }
        for (chunk, column) in self.chunks.iter_mut().zip(&mut self.columns) {
            chunk.write(column)?;
        }
        self.group.rows += self.batch.rows;
        self.group.bytes += self.batch.bytes;
        self.batch = Extent::default();
        Ok(())
    }

    /// Ends the columns' writers and puts their pages into the file.
    fn end_group(&mut self, file: &mut SerializedFileWriter<Writer<BytesMut>>) -> Result<(), EncodeError> {
        if self.group.rows == 0 {
            return Ok(());
        }
        let ended = self.chunks.drain(..).map(Chunk::end).collect::<Result<Vec<Ended>, _>>()?;
        // All at once: a buffer that grows by doubling would take twice of it.
        file.inner_mut().get_mut().reserve(ended.iter().map(Ended::bytes).sum());
        let mut group = file.next_row_group()?;
        for column in ended {
            column.append_to(&mut group)?;
        }
        group.close()?;
        self.group = Extent::default();
        Ok(())
    }
}

fn properties(options: ParquetOptions) -> WriterProperties {
    let codec = match options.codec {
        Compression::None => Codec::UNCOMPRESSED,
        Compression::Gzip => Codec::GZIP(GzipLevel::default()),
        Compression::Zstd => Codec::ZSTD(ZstdLevel::default()),
    };
    WriterProperties::builder()
        .set_created_by(concat!("waybill version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(codec)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .build()
}

impl std::fmt::Debug for ParquetEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParquetEncoder").field("stream", &self.stream).finish_non_exhaustive()
    }
}
