//! Texts as fields: quoted where Postgres' COPY quotes them (`CopyAttributeOutCSV`), and by its rules alone.

use bytes::BytesMut;

use crate::file_kind::CsvOptions;

const QUOTE: u8 = b'"';

/// How many bytes are looked at before it is asked whether one of them was special.
const LANES: usize = 32;

/// What a formula begins with in one spreadsheet or another (OWASP, CSV Injection).
const FORMULA_BEGINNINGS: [u8; 7] = [b'=', b'+', b'-', b'@', b'\t', b'\r', b'\n'];

/// How the texts of one file are quoted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quoting {
    delimiter: u8,
    /// A record has one field only, so that `\.` would stand alone in its line and end the data for some readers.
    is_alone: bool,
    guards_formulas: bool,
}

impl Quoting {
    pub(super) fn new(options: CsvOptions, columns: usize) -> Self {
        Self {
            delimiter: options.delimiter.byte(),
            is_alone: columns == 1,
            guards_formulas: options.guard_formulas,
        }
    }

    /// The same for what is no text to a spreadsheet.
    pub(super) fn without_guard(self) -> Self {
        Self { guards_formulas: false, ..self }
    }

    /// What goes before a text that a spreadsheet would take for a formula. It changes the text, and nothing tells a reader
    /// which apostrophes were there before; so it is off unless asked for.
    pub(super) fn guard(&self, text: &[u8]) -> &'static [u8] {
        match text.first() {
            Some(first) if self.guards_formulas && FORMULA_BEGINNINGS.contains(first) => b"'",
            _ => b"",
        }
    }

    /// Appends a text. An empty one has quotes, by which it differs from NULL.
    pub(super) fn text(&self, text: &[u8], out: &mut BytesMut) {
        let guard = self.guard(text);
        if !self.needs_quotes(text) {
            out.extend_from_slice(guard);
            out.extend_from_slice(text);
            return;
        }
        out.extend_from_slice(&[QUOTE]);
        out.extend_from_slice(guard);
        let mut written = 0;
        for at in memchr::memchr_iter(QUOTE, text) {
            out.extend_from_slice(&text[written..=at]);
            written = at;
        }
        out.extend_from_slice(&text[written..]);
        out.extend_from_slice(&[QUOTE]);
    }

    fn needs_quotes(&self, text: &[u8]) -> bool {
        let is_special =
            |byte: &u8| (*byte == self.delimiter) | (*byte == QUOTE) | (*byte == b'\n') | (*byte == b'\r');
        let any = |lanes: &[u8]| lanes.iter().fold(false, |any, byte| any | is_special(byte));
        text.is_empty() || self.is_alone && text == b"\\." || text.chunks(LANES).any(any)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Delimiter;

    fn written(text: &str, options: CsvOptions, columns: usize) -> String {
        let mut out = BytesMut::new();
        Quoting::new(options, columns).text(text.as_bytes(), &mut out);
        String::from_utf8(out.to_vec()).expect("text")
    }

    #[test]
    fn a_text_is_quoted_where_it_must_be_and_nowhere_else() {
        let options = CsvOptions::default();
        for plain in [" ", "a;b", "\\.", "NULL", "'", "訂單", "\t"] {
            assert_eq!(written(plain, options, 2), plain);
        }
        for (text, field) in
            [("", "\"\""), ("a,b", "\"a,b\""), ("\"", "\"\"\"\""), ("a\nb", "\"a\nb\""), ("\r", "\"\r\"")]
        {
            assert_eq!(written(text, options, 2), field);
        }
        assert_eq!(written("\\.", options, 1), "\"\\.\"");
        let tabs = CsvOptions { delimiter: Delimiter::Tab, ..options };
        assert_eq!([written("a,b", tabs, 2), written("a\tb", tabs, 2)], ["a,b", "\"a\tb\""]);
    }

    #[test]
    fn an_apostrophe_goes_before_what_a_spreadsheet_would_take_for_a_formula() {
        let options = CsvOptions { guard_formulas: true, ..CsvOptions::default() };
        for (text, field) in [
            ("=1+1", "'=1+1"),
            ("=\"a\"", "\"'=\"\"a\"\"\""),
            ("\t=1", "'\t=1"),
            ("\r", "\"'\r\""),
            ("a=b", "a=b"),
            ("\"=1", "\"\"\"=1\""),
            ("", "\"\""),
        ] {
            assert_eq!(written(text, options, 2), field);
        }
    }

    proptest! {
        #[test]
        fn somebody_elses_reader_reads_the_same_texts(
            rows in prop::collection::vec(prop::collection::vec("[a\",\n\r訂單🚚 =\\\\.]{0,40}", 2), 0..20),
        ) {
            let quoting = Quoting::new(CsvOptions::default(), 2);
            let mut file = BytesMut::new();
            for row in &rows {
                quoting.text(row[0].as_bytes(), &mut file);
                file.extend_from_slice(b",");
                quoting.text(row[1].as_bytes(), &mut file);
                file.extend_from_slice(b"\n");
            }
            let read: Vec<Vec<String>> = csv::ReaderBuilder::new().has_headers(false).from_reader(&file[..])
                .deserialize().collect::<Result<_, _>>().expect("it reads");
            prop_assert_eq!(read, rows);
        }
    }
}
