//! The footer of a Parquet file that streams by: how many rows the file has, and whether all of it is there.

use bytes::{Buf as _, BytesMut};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use crate::error::ReadBackError;

/// The longest footer that is written and read back. A row group of one column takes about 100 B of it.
pub(super) const FOOTER_BYTES_MAX: usize = 32 * 1024 * 1024;

const MAGIC: &[u8; 4] = b"PAR1";

/// What is kept of the bytes so far.
#[derive(Debug, Default)]
pub(crate) struct Footer {
    /// The last bytes, enough for the longest footer.
    tail: BytesMut,
    /// The first bytes, up to four.
    head: Vec<u8>,
    bytes: u64,
}

impl Footer {
    /// Takes the next bytes of the file.
    pub(crate) fn update(&mut self, piece: &[u8]) {
        self.bytes += piece.len() as u64;
        let wanted = (MAGIC.len() - self.head.len()).min(piece.len());
        self.head.extend_from_slice(&piece[..wanted]);
        let kept = piece.len().min(FOOTER_BYTES_MAX);
        // The front is given up only now and then: each time moves what stays.
        if self.tail.len() + kept > 2 * FOOTER_BYTES_MAX {
            self.tail.advance(self.tail.len() - FOOTER_BYTES_MAX);
        }
        self.tail.extend_from_slice(&piece[piece.len() - kept..]);
    }

    /// The rows, once the footer has been read and its chunks were found to lie before it.
    pub(crate) fn rows(&self) -> Result<u64, ReadBackError> {
        let cut = |problem| ReadBackError::Cut { problem };
        let (rest, magic) = self.tail.split_last_chunk().ok_or(cut("it ends before any footer"))?;
        if self.head != MAGIC || magic != MAGIC {
            return Err(cut("it does not begin and end as a Parquet file does"));
        }
        let (rest, length) = rest.split_last_chunk().ok_or(cut("it ends before any footer"))?;
        let length = u32::from_le_bytes(*length) as usize;
        let start =
            rest.len().checked_sub(length).ok_or(cut("its footer begins before what was kept of it"))?;
        let metadata =
            ParquetMetaDataReader::decode_metadata(&rest[start..]).map_err(ReadBackError::Footer)?;
        let data_end = self.bytes - (length + 2 * MAGIC.len()) as u64;
        checked(&metadata, data_end)
    }
}

/// Every chunk lies between the magic bytes and the footer, and the row groups have the file's rows.
fn checked(metadata: &ParquetMetaData, data_end: u64) -> Result<u64, ReadBackError> {
    let mut rows = 0_i64;
    for group in metadata.row_groups() {
        rows += group.num_rows();
        for column in group.columns() {
            let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
            let (start, length) = (u64::try_from(start), u64::try_from(column.compressed_size()));
            let lies =
                |start: u64, length| start >= MAGIC.len() as u64 && start.saturating_add(length) <= data_end;
            if !start.is_ok_and(|start| length.is_ok_and(|length| lies(start, length))) {
                return Err(ReadBackError::Cut { problem: "its footer names pages that are not in it" });
            }
        }
    }
    if rows != metadata.file_metadata().num_rows() {
        let differs = ParquetError::General("the row groups have other than the file's rows".to_owned());
        return Err(ReadBackError::Footer(differs));
    }
    u64::try_from(rows).map_err(|_negative| ReadBackError::Cut { problem: "its number of rows is none" })
}
