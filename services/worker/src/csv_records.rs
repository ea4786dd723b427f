//! Counts the records of a CSV file as it streams by, whatever the chunks are cut like.
//!
//! Postgres' COPY writes a quote only around a field or doubled inside of one, so a line break ends a record exactly
//! where an even number of quotes came before it. Deliberately not a general CSV reader: those skip empty lines, and
//! an empty line is how COPY writes a record whose only column is NULL.

/// The state between two chunks.
#[derive(Debug, Default)]
pub(crate) struct RecordCounter {
    records: u64,
    quoted: bool,
    unterminated: bool,
}

impl RecordCounter {
    /// Takes the next bytes of the file.
    pub(crate) fn update(&mut self, chunk: &[u8]) {
        for byte in chunk {
            match byte {
                b'"' => {
                    self.quoted = !self.quoted;
                    self.unterminated = true;
                }
                b'\n' if !self.quoted => {
                    self.records += 1;
                    self.unterminated = false;
                }
                _ => self.unterminated = true,
            }
        }
    }

    /// The records so far, a last one without a line break included.
    pub(crate) fn records(&self) -> u64 {
        self.records + u64::from(self.unterminated)
    }
}

#[cfg(test)]
mod tests {
    use super::RecordCounter;
    use proptest::prelude::*;

    fn count(chunks: &[&[u8]]) -> u64 {
        let mut counter = RecordCounter::default();
        for chunk in chunks {
            counter.update(chunk);
        }
        counter.records()
    }

    #[test]
    fn a_line_break_in_quotes_ends_no_record() {
        assert_eq!(count(&[b"id,note\n1,\"two\nlines\"\n2,\"a \"\"quoted\"\"\nword\"\n"]), 3);
    }

    #[test]
    fn a_record_whose_only_column_is_null_counts() {
        assert_eq!(count(&[b"note\n\n\"\"\n\n"]), 4);
    }

    #[test]
    fn an_empty_file_has_no_record_and_a_torn_one_counts_its_last() {
        assert_eq!(count(&[]), 0);
        assert_eq!(count(&[b"id\n1\n2"]), 3);
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
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &file[pair[0]..pair[1]]).collect();
            let read = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(file.as_slice())
                .into_byte_records().count();
            prop_assert_eq!(count(&chunks), read as u64);
        }
    }
}
