//! Parquet files of more than one row group: what is kept in memory and in the file is bounded.

use bytes::{Bytes, BytesMut};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use waybill_formats::{Compression, FileKind, Format, ParquetOptions, ROW_GROUP_BYTES_MAX};

use crate::stream::{count, plan, stream};

const NOTE_BYTES: usize = 1024 * 1024;

fn plain() -> FileKind {
    FileKind::new(Format::Parquet(ParquetOptions { codec: Compression::None }), Compression::None)
        .expect("a kind")
}

fn metadata(file: Vec<u8>) -> ParquetMetaData {
    ParquetMetaDataReader::new().parse_and_finish(&Bytes::from(file)).expect("a Parquet file")
}

#[test]
fn long_values_end_a_row_group_before_it_is_too_large() {
    let rows = 150;
    let long = "x".repeat(NOTE_BYTES);
    let mut encoder = plan(plain()).encoder().expect("it begins");
    let (mut file, mut out) = (Vec::new(), BytesMut::new());
    let (mut given, mut largest) = (0, 0);
    // Values differ, or a dictionary would hold them all.
    let notes: Vec<String> = (0..rows).map(|id| format!("{id}{long}")).collect();
    let whole = stream((0..rows).zip(notes.iter().map(|note| Some(note.as_str()))));
    for piece in whole.chunks(NOTE_BYTES / 2) {
        given += piece.len();
        encoder.write(piece, &mut out).expect("a piece");
        file.extend_from_slice(&out.split());
        largest = largest.max(given - file.len());
    }
    encoder.finish(150, &mut out).expect("whole");
    file.extend_from_slice(&out);
    assert!(largest < ROW_GROUP_BYTES_MAX + 4 * NOTE_BYTES, "{largest} B were kept back");
    assert_eq!(count(plain(), &file).expect("whole"), 150);
    let groups: Vec<i64> = metadata(file).row_groups().iter().map(RowGroupMetaData::num_rows).collect();
    let wanted = (150 * NOTE_BYTES).div_ceil(ROW_GROUP_BYTES_MAX);
    assert_eq!((groups.len(), groups.iter().sum::<i64>()), (wanted, 150));
}
