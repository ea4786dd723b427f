//! Files that are as they should be.

use bytes::BytesMut;
use waybill_formats::{Compression, CsvOptions, Delimiter, Encoder, FileKind, Format, RowCounter};

use crate::stream::{count, encode, file, kinds, notes, plan, stream};

#[test]
fn every_file_has_its_rows_when_it_is_read_back_and_an_empty_one_has_none() {
    for kind in kinds() {
        for rows in [0, 1, 50] {
            let counted =
                count(kind, &file(kind, rows)).unwrap_or_else(|error| panic!("{kind:?}, {rows}: {error}"));
            assert_eq!(counted, u64::try_from(rows).expect("rows"), "{kind:?}");
        }
    }
}

#[test]
fn what_makes_and_counts_files_may_move_between_threads() {
    fn moves<T: Send + 'static>() {}
    moves::<Encoder>();
    moves::<RowCounter>();
}

#[test]
fn rows_are_counted_while_they_are_written() {
    for kind in kinds() {
        let mut encoder = plan(kind).encoder().expect("it begins");
        let stream = notes(20);
        let mut out = BytesMut::new();
        encoder.write(&stream[..stream.len() / 2], &mut out).expect("half of it");
        let halfway = encoder.rows();
        assert!((5..15).contains(&halfway), "{kind:?} has {halfway} rows");
    }
}

#[test]
fn a_csv_file_has_the_mark_the_delimiter_and_the_apostrophes_that_were_asked_for() {
    let options = CsvOptions {
        delimiter: Delimiter::Semicolon,
        header: true,
        byte_order_mark: true,
        guard_formulas: true,
    };
    let kind = FileKind::new(Format::Csv(options), Compression::None).expect("they go together");
    let written =
        encode(kind, &stream([(-1, Some("-1")), (-2, Some("=a")), (-3, None)]), 3).expect("three rows");
    assert_eq!(std::str::from_utf8(&written), Ok("\u{feff}id;note\n-1;'-1\n-2;'=a\n-3;\n"));
    assert_eq!(count(kind, &written).expect("whole"), 3);
}

#[test]
fn compressed_files_are_far_smaller_than_what_is_in_them() {
    for kind in kinds() {
        let rows = 20_000;
        let plain = stream((0..rows).map(|id| (id, Some("the same again")))).len();
        let written = encode(kind, &stream((0..rows).map(|id| (id, Some("the same again")))), 20_000);
        let written = written.expect("a whole stream").len();
        let compressed = match kind.format() {
            Format::Parquet(options) => options.codec != Compression::None,
            Format::Csv(_) | Format::Ndjson(_) => kind.compression() != Compression::None,
        };
        assert!(!compressed || written * 4 < plain, "{kind:?}: {written} B of {plain} B");
    }
}
