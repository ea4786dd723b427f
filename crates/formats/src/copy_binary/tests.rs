//! Streams that are whole, cut, and wrong.

use proptest::prelude::*;

use super::*;

type Row = Vec<Option<Vec<u8>>>;

fn stream(rows: &[Row]) -> Vec<u8> {
    let mut bytes = [SIGNATURE.as_slice(), &[0; 8]].concat();
    for row in rows {
        bytes.extend(u16::try_from(row.len()).expect("few").to_be_bytes());
        for value in row {
            match value {
                Some(value) => {
                    bytes.extend(i32::try_from(value.len()).expect("short").to_be_bytes());
                    bytes.extend(value);
                }
                None => bytes.extend((-1_i32).to_be_bytes()),
            }
        }
    }
    bytes.extend((-1_i16).to_be_bytes());
    bytes
}

fn read<'a>(columns: u16, pieces: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<Row>, EncodeError> {
    let mut rows = Rows::new(columns);
    let mut read = Vec::new();
    for piece in pieces {
        rows.feed(piece, |number, mut fields| {
            read.push((0..columns).map(|_| fields.next_value().map(<[u8]>::to_vec)).collect());
            assert_eq!(number, read.len() as u64);
            Ok(())
        })?;
    }
    rows.finish().map(|()| read)
}

fn two() -> Vec<Row> {
    vec![vec![Some(b"a".to_vec()), None], vec![Some(Vec::new()), Some(b"bc".to_vec())]]
}

#[test]
fn a_stream_that_ends_early_is_cut_wherever_it_ends() {
    let whole = stream(&two());
    for end in 0..whole.len() {
        let error = read(2, [&whole[..end]]).expect_err("it is cut");
        assert!(matches!(error, EncodeError::CutStream { .. }), "at {end}: {error}");
    }
    assert_eq!(read(2, [whole.as_slice()]).expect("it is whole"), two());
}

#[test]
fn what_copy_does_not_write_is_refused() {
    let whole = stream(&two());
    let changed = |at: usize, byte: u8| {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        bytes
    };
    let wrong = [
        ("the signature", changed(3, b'x')),
        ("a critical flag", changed(12, 1)),
        ("an extension too long", changed(15, 0x7f)),
        ("a row of three columns", changed(20, 3)),
        ("a length below NULL", changed(21, 0xff)),
        ("a byte after the trailer", [whole.as_slice(), &[0]].concat()),
    ];
    for (what, bytes) in wrong {
        let error = read(2, [bytes.as_slice()]).expect_err(what);
        assert!(matches!(error, EncodeError::MalformedStream { .. }), "{what}: {error}");
    }
    let mut rows = Rows::new(2);
    rows.feed(&whole, |_, _| Ok(())).expect("whole");
    assert!(rows.feed(&[0], |_, _| Ok(())).is_err(), "a piece after the trailer");
}

#[test]
fn an_extension_of_the_header_is_passed_over() {
    let mut bytes = stream(&two());
    bytes[18] = 3;
    bytes.splice(19..19, *b"ext");
    assert_eq!(read(2, bytes.chunks(1)).expect("it is whole"), two());
}

proptest! {
    #[test]
    fn the_rows_are_the_same_however_the_stream_is_cut(
        rows in prop::collection::vec(prop::collection::vec(prop::option::of(prop::collection::vec(any::<u8>(), 0..9)), 3), 0..9),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let bytes = stream(&rows);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
        prop_assert_eq!(&read(3, pieces).expect("it is whole"), &rows);
        prop_assert_eq!(&read(3, bytes.chunks(1)).expect("it is whole"), &rows);
    }
}
