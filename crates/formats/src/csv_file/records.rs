//! Counts the records of a CSV file as it streams by, whatever the pieces are cut like.
//!
//! Postgres' COPY writes a quote only around a field or doubled inside of one, so a line break ends a record exactly
//! where an even number of quotes came before it. Deliberately not a general CSV reader: those skip empty lines, and
//! an empty line is how COPY writes a record whose only column is NULL.

use memchr::{memchr, memchr_iter, memchr2_iter};

/// The state between two pieces.
#[derive(Debug, Default)]
pub(crate) struct Records {
    count: u64,
    quoted: bool,
    last: Option<u8>,
}

impl Records {
    /// Takes the next bytes of the file.
    pub(crate) fn update(&mut self, piece: &[u8]) {
        self.last = piece.last().copied().or(self.last);
        if !self.quoted && memchr(b'"', piece).is_none() {
            self.count += memchr_iter(b'\n', piece).count() as u64;
            return;
        }
        for at in memchr2_iter(b'"', b'\n', piece) {
            if piece[at] == b'"' {
                self.quoted = !self.quoted;
            } else {
                self.count += u64::from(!self.quoted);
            }
        }
    }

    /// The records that have ended so far.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Whether a record has begun and not ended.
    pub(crate) fn is_cut(&self) -> bool {
        self.quoted || self.last.is_some_and(|last| last != b'\n')
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Records;

    fn count(pieces: &[&[u8]]) -> (u64, bool) {
        let mut records = Records::default();
        for piece in pieces {
            records.update(piece);
        }
        (records.count(), records.is_cut())
    }

    #[test]
    fn a_line_break_in_quotes_ends_no_record() {
        assert_eq!(count(&[b"id,note\n1,\"two\nlines\"\n2,\"a \"\"quoted\"\"\nword\"\n"]), (3, false));
    }

    #[test]
    fn a_record_whose_only_column_is_null_counts() {
        assert_eq!(count(&[b"note\n\n\"\"\n\n"]), (4, false));
    }

    #[test]
    fn a_file_that_ends_in_a_record_is_cut() {
        assert_eq!(count(&[]), (0, false));
        assert_eq!(count(&[b"id\n1\n2"]), (2, true));
        assert_eq!(count(&[b"id\n1\n2", b""]), (2, true));
        assert_eq!(count(&[b"id\n\"1\n"]), (1, true));
    }

    proptest! {
        #[test]
        fn the_count_is_the_csv_crates_however_the_file_is_cut(
            rows in prop::collection::vec(prop::collection::vec("[a\",\n\r訂單🚚 ]{0,8}", 2..4), 0..20),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
            for row in &rows {
                writer.write_record(row).expect("memory takes every record");
            }
            let file = writer.into_inner().expect("memory flushes");
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(file.len() + 1)).collect();
            cuts.extend([0, file.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &file[pair[0]..pair[1]]).collect();
            let read = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(file.as_slice())
                .into_byte_records().count();
            prop_assert_eq!(count(&pieces), (read as u64, false));
        }
    }
}
