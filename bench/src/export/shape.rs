//! What a file is, and what it is measured beside.

/// The shapes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Csv,
    CsvZstd,
    CsvGzip,
    Ndjson,
    Parquet,
}

impl Shape {
    pub(crate) const ALL: [Self; 5] = [Self::Csv, Self::CsvZstd, Self::CsvGzip, Self::Ndjson, Self::Parquet];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Csv => "CSV",
            Self::CsvZstd => "CSV + zstd",
            Self::CsvGzip => "CSV + gzip",
            Self::Ndjson => "NDJSON",
            Self::Parquet => "Parquet",
        }
    }

    /// The format and the compression, as an export is asked for with them.
    pub(crate) const fn asked(self) -> (&'static str, &'static str) {
        match self {
            Self::Csv => ("csv", "none"),
            Self::CsvZstd => ("csv", "zstd"),
            Self::CsvGzip => ("csv", "gzip"),
            Self::Ndjson => ("ndjson", "none"),
            Self::Parquet => ("parquet", "zstd"),
        }
    }
}
