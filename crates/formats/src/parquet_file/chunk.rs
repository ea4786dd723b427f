//! One column of one row group: its pages, kept in memory until the row group ends.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use parquet::column::page::{CompressedPage, PageWriteSpec, PageWriter};
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::data_type::FixedLenByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::{SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use super::cell::Cells;
use super::column_buffer::ColumnBuffer;

/// The pages so far. The column's writer owns one handle, the chunk the other; nobody else does.
type Pages = Arc<Mutex<TrackedWrite<Vec<u8>>>>;

/// A column's writer and the pages that it has made.
pub(super) struct Chunk {
    writer: ColumnWriter<'static>,
    pages: Pages,
}

impl Chunk {
    pub(super) fn new(column: &ColumnDescPtr, properties: &WriterPropertiesPtr) -> Self {
        let pages = Pages::new(Mutex::new(TrackedWrite::new(Vec::new())));
        let sink = Box::new(PageSink(Arc::clone(&pages)));
        Self { writer: get_column_writer(Arc::clone(column), Arc::clone(properties), sink), pages }
    }

    /// Takes what waits in the buffer.
    pub(super) fn write(&mut self, buffer: &mut ColumnBuffer) -> Result<()> {
        let definition = Some(buffer.definition.as_slice());
        let repetition = buffer.repetition.as_deref();
        /// Writes the values of one physical type, and makes room for the next ones.
        macro_rules! write {
            ($writer:ident, $values:ident) => {{
                $writer.write_batch($values, definition, repetition)?;
                $values.clear();
            }};
        }
        match (&mut self.writer, &mut buffer.cells) {
            (ColumnWriter::BoolColumnWriter(writer), Cells::Boolean(values)) => write!(writer, values),
            (ColumnWriter::Int32ColumnWriter(writer), Cells::Int32(values)) => write!(writer, values),
            (ColumnWriter::Int64ColumnWriter(writer), Cells::Int64(values)) => write!(writer, values),
            (ColumnWriter::FloatColumnWriter(writer), Cells::Float(values)) => write!(writer, values),
            (ColumnWriter::DoubleColumnWriter(writer), Cells::Double(values)) => write!(writer, values),
            (ColumnWriter::ByteArrayColumnWriter(writer), Cells::Bytes(arena)) => {
                let values: Vec<_> = arena.take().collect();
                writer.write_batch(&values, definition, repetition)?;
            }
            (ColumnWriter::FixedLenByteArrayColumnWriter(writer), Cells::FixedBytes(arena)) => {
                let values: Vec<FixedLenByteArray> = arena.take().map(FixedLenByteArray::from).collect();
                writer.write_batch(&values, definition, repetition)?;
            }
            _ => {
                return Err(ParquetError::General(
                    "a column's values are not of its schema's type".to_owned(),
                ));
            }
        }
        buffer.definition.clear();
        if let Some(levels) = &mut buffer.repetition {
            levels.clear();
        }
        Ok(())
    }

    /// Ends the column.
    pub(super) fn end(self) -> Result<Ended> {
        let closed = self.writer.close()?;
        let pages = Arc::into_inner(self.pages)
            .ok_or_else(|| ParquetError::General("a column's pages are still being written".to_owned()))?;
        let pages = pages.into_inner().unwrap_or_else(PoisonError::into_inner).into_inner()?;
        Ok(Ended { pages: Bytes::from(pages), closed })
    }
}

/// A column that has ended, and is not yet in the file.
pub(super) struct Ended {
    pages: Bytes,
    closed: ColumnCloseResult,
}

impl Ended {
    pub(super) fn bytes(&self) -> usize {
        self.pages.len()
    }

    /// Puts the pages into the file.
    pub(super) fn append_to<W: Write + Send>(
        self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<()> {
        group.append_column(&self.pages, self.closed)
    }
}

/// Where a column's writer puts its pages.
struct PageSink(Pages);

impl PageWriter for PageSink {
    fn write_page(&mut self, page: CompressedPage) -> Result<PageWriteSpec> {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        SerializedPageWriter::new(&mut *pages).write_page(page)
    }

    fn close(&mut self) -> Result<()> {
        Ok(())
    }
}
