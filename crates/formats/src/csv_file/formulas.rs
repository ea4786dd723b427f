//! Keeps a spreadsheet from taking a value for a formula, by an apostrophe before it (OWASP, CSV Injection).
//!
//! It changes texts, and nothing tells a reader which apostrophes were there before; so it is off unless asked for. The
//! columns of numbers stay as they are: `-5` is meant to be one.

use bytes::BytesMut;

/// What a formula begins with in one spreadsheet or another.
const BEGINNINGS: [u8; 7] = [b'=', b'+', b'-', b'@', b'\t', b'\r', b'\n'];

/// The state between two pieces.
#[derive(Debug)]
pub(crate) struct FormulaGuard {
    /// Whether the column of this number is one of numbers.
    numbers: Vec<bool>,
    delimiter: u8,
    header: bool,
    column: usize,
    place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before a field's first byte.
    Before,
    /// Behind the quote that begins a field.
    Opened,
    Unquoted,
    Quoted,
}

impl FormulaGuard {
    pub(crate) fn new(numbers: Vec<bool>, delimiter: u8, header: bool) -> Self {
        Self { numbers, delimiter, header, column: 0, place: Place::Before }
    }

    /// Passes the next bytes of the file on, with the apostrophes between them.
    pub(crate) fn write(&mut self, piece: &[u8], out: &mut BytesMut) {
        let mut written = 0;
        for (at, byte) in piece.iter().copied().enumerate() {
            let begins = match self.place {
                // The ends of fields and records are none of a value's bytes.
                Place::Before => byte != self.delimiter && byte != b'\n',
                Place::Opened => true,
                Place::Unquoted | Place::Quoted => false,
            };
            if begins && BEGINNINGS.contains(&byte) && self.guards() {
                out.extend_from_slice(&piece[written..at]);
                out.extend_from_slice(b"'");
                written = at;
            }
            self.step(byte);
        }
        out.extend_from_slice(&piece[written..]);
    }

    /// The names in a header are text whatever is below them.
    fn guards(&self) -> bool {
        self.header || !self.numbers.get(self.column).copied().unwrap_or(false)
    }

    fn step(&mut self, byte: u8) {
        self.place = match (self.place, byte) {
            (Place::Before, b'"') => Place::Opened,
            // A doubled quote closes the field and opens it again, and no field begins in between.
            (Place::Opened | Place::Quoted, b'"') => Place::Unquoted,
            (Place::Unquoted, b'"') => Place::Quoted,
            (Place::Opened | Place::Quoted, _) => Place::Quoted,
            (Place::Before | Place::Unquoted, b'\n') => {
                (self.column, self.header) = (0, false);
                Place::Before
            }
            (Place::Before | Place::Unquoted, byte) if byte == self.delimiter => {
                self.column += 1;
                Place::Before
            }
            (Place::Before | Place::Unquoted, _) => Place::Unquoted,
        };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn guarded(pieces: &[&[u8]], header: bool) -> String {
        let mut guard = FormulaGuard::new(vec![true, false], b',', header);
        let mut out = BytesMut::new();
        for piece in pieces {
            guard.write(piece, &mut out);
        }
        String::from_utf8(out.to_vec()).expect("text")
    }

    #[test]
    fn an_apostrophe_goes_before_each_beginning_and_numbers_stay() {
        let file = b"-5,=1+1\n-6,\"=\"\"a\"\"\"\n7,-x\n,\n\"\",\"\"\n8,\"\n9\"\n9,a=b\n";
        let safe = "-5,'=1+1\n-6,\"'=\"\"a\"\"\"\n7,'-x\n,\n\"\",\"\"\n8,\"'\n9\"\n9,a=b\n";
        assert_eq!(guarded(&[file], false), safe);
        assert_eq!(guarded(&[b"=a,@b\n-1,+c\n"], true), "'=a,'@b\n-1,'+c\n");
    }

    #[test]
    fn a_quote_at_the_beginning_of_a_value_hides_nothing() {
        assert_eq!(guarded(&[b"1,\"\"\"=1\"\n"], false), "1,\"\"\"=1\"\n");
        assert_eq!(guarded(&[b"1,\"\t=1\"\n1,\"\r\"\n"], false), "1,\"'\t=1\"\n1,\"'\r\"\n");
    }

    proptest! {
        #[test]
        fn exactly_the_values_that_begin_like_a_formula_are_changed(
            rows in prop::collection::vec(prop::collection::vec("[=+@\t\r\n\"',a訂-]{0,6}", 2), 1..20),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let mut writer = csv::Writer::from_writer(Vec::new());
            for row in &rows {
                writer.write_record(row).expect("memory takes every record");
            }
            let file = writer.into_inner().expect("memory flushes");
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(file.len() + 1)).collect();
            cuts.extend([0, file.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &file[pair[0]..pair[1]]).collect();
            let safe = guarded(&pieces, false);
            let read: Vec<Vec<String>> = csv::ReaderBuilder::new().has_headers(false).from_reader(safe.as_bytes())
                .deserialize().collect::<Result<_, _>>().expect("it reads");
            let expected: Vec<Vec<String>> = rows.iter().map(|row| {
                let text = &row[1];
                let begins = text.bytes().next().is_some_and(|byte| BEGINNINGS.contains(&byte));
                vec![row[0].clone(), if begins { format!("'{text}") } else { text.clone() }]
            }).collect();
            prop_assert_eq!(read, expected);
        }
    }
}
