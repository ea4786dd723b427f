//! What kind of file is wanted: its format with the format's options, and its compression.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Errors;

/// The format of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// RFC 4180 but for its line breaks, UTF-8; NULL is empty, an empty string is two quotes.
    #[default]
    Csv,
    /// One JSON object a line.
    Ndjson,
    /// Apache Parquet.
    Parquet,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 3] = [Self::Csv, Self::Ndjson, Self::Parquet];

    /// The format as it is stored and answered.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Ndjson => "ndjson",
            Self::Parquet => "parquet",
        }
    }

    /// The format that is stored as this text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == text)
    }

    /// The options that files of this format have.
    pub const fn options(self) -> &'static [&'static str] {
        match self {
            Self::Csv => &["delimiter", "header", "byte_order_mark", "spreadsheet_safe"],
            Self::Ndjson => &["wide_numbers"],
            Self::Parquet => &[],
        }
    }
}

/// What a file is compressed with: as a whole, or for Parquet its pages inside of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    /// Nothing.
    None,
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstd,
}

impl Compression {
    /// Every compression.
    pub const ALL: [Self; 3] = [Self::None, Self::Gzip, Self::Zstd];

    /// The compression as it is stored and answered.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    /// The compression that is stored as this text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|compression| compression.as_str() == text)
    }
}

/// What may stand between two fields of a CSV file.
pub const DELIMITERS: [char; 4] = [',', ';', '\t', '|'];

/// How `bigint` and `numeric` are written in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WideNumbers {
    /// As numbers with every digit.
    Number,
    /// As strings of the same digits, for readers that know only 64-bit floats.
    Text,
}

/// The options of a format; what is absent is left to somebody else to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FormatOptions {
    /// CSV: one of [`DELIMITERS`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<char>,
    /// CSV: whether the first record has the columns' names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<bool>,
    /// CSV: whether the file begins with U+FEFF.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub byte_order_mark: Option<bool>,
    /// CSV: whether an apostrophe goes before what a spreadsheet would take for a formula. It changes values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spreadsheet_safe: Option<bool>,
    /// NDJSON: how wide numbers are written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wide_numbers: Option<WideNumbers>,
}

impl FormatOptions {
    /// Whether none is said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The names of those that are said.
    pub fn said(&self) -> Vec<&'static str> {
        let said = [
            ("delimiter", self.delimiter.is_some()),
            ("header", self.header.is_some()),
            ("byte_order_mark", self.byte_order_mark.is_some()),
            ("spreadsheet_safe", self.spreadsheet_safe.is_some()),
            ("wide_numbers", self.wide_numbers.is_some()),
        ];
        said.into_iter().filter(|(_, said)| *said).map(|(name, _)| name).collect()
    }

    /// These, and the others' where these say nothing.
    #[must_use]
    pub fn or(self, others: Self) -> Self {
        Self {
            delimiter: self.delimiter.or(others.delimiter),
            header: self.header.or(others.header),
            byte_order_mark: self.byte_order_mark.or(others.byte_order_mark),
            spreadsheet_safe: self.spreadsheet_safe.or(others.spreadsheet_safe),
            wide_numbers: self.wide_numbers.or(others.wide_numbers),
        }
    }
}

pub(super) fn format(value: Option<&Value>, errors: &mut Errors) -> Format {
    let Some(value) = value else { return Format::default() };
    value.as_str().and_then(Format::parse).unwrap_or_else(|| {
        errors.add("format", "must be \"csv\", \"ndjson\" or \"parquet\"");
        Format::default()
    })
}

pub(super) fn compression(value: &Value, errors: &mut Errors) -> Option<Compression> {
    let compression = value.as_str().and_then(Compression::parse);
    if compression.is_none() {
        errors.add("compression", "must be \"none\", \"gzip\" or \"zstd\"");
    }
    compression
}

/// Names the options that are none of the format's.
pub(super) fn check_options(options: FormatOptions, format: Format, errors: &mut Errors) {
    let known = format.options();
    for name in options.said().into_iter().filter(|name| !known.contains(name)) {
        let known =
            if known.is_empty() { "has none".to_owned() } else { format!("has {}", known.join(", ")) };
        errors
            .add(&format!("options.{name}"), &format!("is no option of {}, which {known}", format.as_str()));
    }
}

pub(super) fn options(value: &Value, errors: &mut Errors) -> FormatOptions {
    let Some(object) = value.as_object() else {
        errors.add("options", "must be an object of the format's options");
        return FormatOptions::default();
    };
    let mut options = FormatOptions::default();
    for (name, value) in object {
        if let Err(problem) = set(&mut options, name, value) {
            errors.add(&format!("options.{name}"), problem);
        }
    }
    options
}

fn set(options: &mut FormatOptions, name: &str, value: &Value) -> Result<(), &'static str> {
    let flag = || value.as_bool().map(Some).ok_or("must be true or false");
    match name {
        known if value.is_null() && Format::ALL.iter().any(|format| format.options().contains(&known)) => {}
        "delimiter" => {
            let given = DELIMITERS.into_iter().find(|c| value.as_str() == Some(c.encode_utf8(&mut [0; 4])));
            options.delimiter = Some(given.ok_or(r#"must be ",", ";", "\t" or "|""#)?);
        }
        "header" => options.header = flag()?,
        "byte_order_mark" => options.byte_order_mark = flag()?,
        "spreadsheet_safe" => options.spreadsheet_safe = flag()?,
        "wide_numbers" => {
            options.wide_numbers = Some(match value.as_str() {
                Some("number") => WideNumbers::Number,
                Some("text") => WideNumbers::Text,
                _ => return Err(r#"must be "number" or "text""#),
            });
        }
        _ => return Err("is no option of any format; docs/formats.md has them"),
    }
    Ok(())
}
