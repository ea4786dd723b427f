//! Streams and files that are not whole: none of them is ever taken for one that is.

use bytes::BytesMut;
use waybill_formats::{Compression, EncodeError, Format, ReadBackError, codes};

use crate::stream::{count, encode, file, kinds, notes, plan, says_its_end};

const ROWS: i32 = 12;
const ROWS_SENT: u64 = 12;

#[test]
fn a_stream_that_ends_early_gives_no_file_wherever_it_ends() {
    for kind in kinds() {
        let whole = notes(ROWS);
        for end in 0..whole.len() {
            let error = encode(kind, &whole[..end], ROWS_SENT).expect_err("it is cut");
            let code = error.code();
            assert!(
                [codes::COPY_STREAM_CUT, codes::ROWS_DIFFER].contains(&code),
                "{kind:?} at {end}: {error}"
            );
        }
        assert!(encode(kind, &whole, ROWS_SENT).is_ok());
    }
}

#[test]
fn another_number_of_rows_than_the_server_sent_gives_no_file() {
    for kind in kinds() {
        for sent in [ROWS_SENT - 1, ROWS_SENT + 1] {
            let error = encode(kind, &notes(ROWS), sent).expect_err("they differ");
            assert!(
                matches!(error, EncodeError::RowsDiffer { sent: said, written: ROWS_SENT } if said == sent)
            );
        }
    }
}

#[test]
fn an_encoder_that_has_refused_a_piece_refuses_what_follows() {
    for kind in kinds() {
        let mut encoder = plan(kind).encoder().expect("it begins");
        let mut out = BytesMut::new();
        assert!(encoder.write(b"id,note\n1,a\n", &mut out).is_err());
        assert!(matches!(encoder.write(&notes(1), &mut out), Err(EncodeError::Broken)));
        assert!(matches!(encoder.finish(0, &mut out), Err(EncodeError::Broken)));
    }
}

#[test]
fn a_text_that_is_not_utf_8_gives_no_file_in_any_format() {
    for kind in kinds() {
        let mut stream = notes(ROWS);
        // The first byte of a character.
        let at = stream.iter().position(|byte| *byte == 0xe8).expect("a note");
        stream[at] = 0xff;
        let error = encode(kind, &stream, ROWS_SENT).expect_err("it is no text");
        assert_eq!(error.code(), codes::VALUE_NOT_EXPORTABLE, "{kind:?}: {error}");
    }
}

#[test]
fn a_file_that_was_cut_is_never_counted_as_whole() {
    for kind in kinds() {
        let whole = file(kind, ROWS);
        for end in 0..whole.len() {
            match count(kind, &whole[..end]) {
                Err(error) => assert_eq!(error.code(), codes::FILE_UNREADABLE),
                // Only a text that was cut between two records passes for one, and has fewer of them.
                Ok(rows) => {
                    let between_records = end == 0 || whole[end - 1] == b'\n';
                    let passes = !says_its_end(kind) && between_records && rows < ROWS_SENT;
                    assert!(passes, "{kind:?} at {end} has {rows} rows");
                }
            }
        }
    }
}

#[test]
fn a_file_with_something_behind_it_is_unreadable() {
    for kind in kinds().into_iter().filter(|kind| says_its_end(*kind)) {
        for behind in [&b"\0"[..], b"PAR1", &file(kind, 1)[..9]] {
            let longer = [file(kind, ROWS).as_slice(), behind].concat();
            assert!(count(kind, &longer).is_err(), "{kind:?} with {behind:?} behind it");
        }
    }
}

#[test]
fn a_changed_byte_of_a_compressed_file_never_changes_the_count() {
    for kind in kinds().into_iter().filter(|kind| kind.compression() != Compression::None) {
        let whole = file(kind, ROWS);
        let mut noticed = 0;
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0x10;
            match count(kind, &changed) {
                Err(ReadBackError::Compression(_)) => noticed += 1,
                Err(_) => {}
                // A gzip header says who made the file, and when.
                Ok(rows) => assert_eq!(rows, ROWS_SENT, "{kind:?} at {at}"),
            }
        }
        assert!(noticed * 10 > whole.len() * 8, "{kind:?}: only {noticed} of {} were noticed", whole.len());
    }
}

#[test]
fn a_changed_byte_of_a_parquet_file_never_changes_the_count() {
    for kind in kinds().into_iter().filter(|kind| matches!(kind.format(), Format::Parquet(_))) {
        let whole = file(kind, ROWS);
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0x02;
            let is_magic = at < 4 || at >= whole.len() - 4;
            match count(kind, &changed) {
                Err(_) => {}
                // Pages are read over, and the footer has names and statistics.
                Ok(rows) => assert!(rows == ROWS_SENT && !is_magic, "{kind:?} at {at} has {rows} rows"),
            }
        }
    }
}
