//! What kind of file is wanted: its format with its options, and what is around it.

use crate::error::{PlanError, Problem};

/// What is compressed around a file of CSV or NDJSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Nothing.
    None,
    /// One gzip member (RFC 1952).
    Gzip,
    /// One Zstandard frame with a checksum (RFC 8878).
    Zstd,
}

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// RFC 4180, but for its line breaks, which are LF.
    Csv(CsvOptions),
    /// One JSON object a line (RFC 8259).
    Ndjson(NdjsonOptions),
    /// Apache Parquet.
    Parquet(ParquetOptions),
}

impl Format {
    /// What people call it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Csv(_) => "CSV",
            Self::Ndjson(_) => "NDJSON",
            Self::Parquet(_) => "Parquet",
        }
    }
}

/// How a CSV file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CsvOptions {
    /// What stands between two fields.
    pub delimiter: Delimiter,
    /// Whether the first record has the columns' names.
    pub header: bool,
    /// Whether the file begins with U+FEFF, by which Excel knows UTF-8.
    pub byte_order_mark: bool,
    /// Whether an apostrophe goes before every value that a spreadsheet would take for a formula. It changes values.
    pub guard_formulas: bool,
}

impl Default for CsvOptions {
    fn default() -> Self {
        Self { delimiter: Delimiter::Comma, header: true, byte_order_mark: false, guard_formulas: false }
    }
}

/// What stands between two fields of a CSV file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delimiter {
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// A tab.
    Tab,
    /// `|`
    Pipe,
}

impl Delimiter {
    const ALL: [Self; 4] = [Self::Comma, Self::Semicolon, Self::Tab, Self::Pipe];

    /// The delimiter that is written like this.
    ///
    /// # Errors
    /// When there is none.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let found = Self::ALL.into_iter().find(|delimiter| text.as_bytes() == [delimiter.byte()]);
        found.ok_or_else(|| {
            PlanError::new(vec![Problem {
                column: None,
                problem: "the delimiter is none that CSV files are written with here".to_owned(),
                instead: "choose a comma, a semicolon, a tab or a |".to_owned(),
            }])
        })
    }

    pub(crate) const fn byte(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Semicolon => b';',
            Self::Tab => b'\t',
            Self::Pipe => b'|',
        }
    }
}

/// How an NDJSON file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NdjsonOptions {
    /// How numbers are written that a reader of 64-bit floats would round.
    pub wide_numbers: WideNumbers,
}

/// How `bigint` and `numeric` are written in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WideNumbers {
    /// As JSON numbers with every digit. A reader must not put them into 64-bit floats.
    #[default]
    Number,
    /// As strings of the same digits, for readers that know only 64-bit floats, such as JavaScript's.
    Text,
}

/// How a Parquet file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParquetOptions {
    /// What its pages are compressed with, inside the file.
    pub codec: Compression,
}

impl Default for ParquetOptions {
    fn default() -> Self {
        Self { codec: Compression::Zstd }
    }
}

/// A format and what is compressed around it, which go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileKind {
    format: Format,
    compression: Compression,
}

impl FileKind {
    /// Puts the two together.
    ///
    /// # Errors
    /// A Parquet file inside of another compression: no reader of Parquet could open it.
    pub fn new(format: Format, compression: Compression) -> Result<Self, PlanError> {
        if matches!(format, Format::Parquet(_)) && compression != Compression::None {
            return Err(PlanError::new(vec![Problem {
                column: None,
                problem: "a Parquet file inside of gzip or Zstandard is none that a reader opens".to_owned(),
                instead: "choose the codec of its pages, and no compression around it".to_owned(),
            }]));
        }
        Ok(Self { format, compression })
    }

    /// The format.
    #[must_use]
    pub const fn format(self) -> Format {
        self.format
    }

    /// What is compressed around it.
    #[must_use]
    pub const fn compression(self) -> Compression {
        self.compression
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes;

    #[test]
    fn a_parquet_file_inside_of_another_compression_is_refused() {
        let parquet = Format::Parquet(ParquetOptions::default());
        for around in [Compression::Gzip, Compression::Zstd] {
            let refused = FileKind::new(parquet, around).expect_err("no reader opens it");
            assert_eq!(refused.problems()[0].code(), codes::FORMAT_OPTION_INVALID);
            assert!(refused.to_string().contains("choose the codec of its pages"), "{refused}");
        }
        assert!(FileKind::new(parquet, Compression::None).is_ok());
        assert!(FileKind::new(Format::Csv(CsvOptions::default()), Compression::Gzip).is_ok());
    }

    #[test]
    fn a_delimiter_is_one_of_four() {
        for delimiter in Delimiter::ALL {
            let text = char::from(delimiter.byte()).to_string();
            assert_eq!(Delimiter::parse(&text), Ok(delimiter));
        }
        for wrong in ["", "\"", "\n", "::", "a", "…"] {
            assert!(Delimiter::parse(wrong).is_err(), "{wrong:?} was taken");
        }
    }
}
