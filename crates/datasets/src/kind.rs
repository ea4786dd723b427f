//! From what a request or a job says of its file to what the conversion wants.

use waybill_domain::export::{Compression, Format, FormatOptions, Spec, WideNumbers};
use waybill_formats::{
    Compression as Around, CsvOptions, Delimiter, FileKind, Format as Inside, NdjsonOptions, ParquetOptions,
    PlanError, WideNumbers as Wide,
};

/// What files of a format are compressed with when nobody says: Parquet is made to be.
pub(crate) const fn default_compression(format: Format) -> Compression {
    match format {
        Format::Csv | Format::Ndjson => Compression::None,
        Format::Parquet => Compression::Zstd,
    }
}

/// The kind of an export's file.
///
/// # Errors
/// Options that the conversion refuses.
pub fn kind_of_spec(spec: &Spec) -> Result<FileKind, PlanError> {
    kind(spec.format, &spec.options, spec.compression)
}

/// The kind of file. A Parquet file is compressed inside, page by page, because no reader opens one that is compressed
/// as a whole; the other formats as a whole.
///
/// # Errors
/// Options that the conversion refuses.
pub fn kind(
    format: Format,
    options: &FormatOptions,
    compression: Compression,
) -> Result<FileKind, PlanError> {
    let compressed = match compression {
        Compression::None => Around::None,
        Compression::Gzip => Around::Gzip,
        Compression::Zstd => Around::Zstd,
    };
    match format {
        Format::Csv => {
            let defaults = CsvOptions::default();
            let delimiter = match options.delimiter {
                Some(delimiter) => Delimiter::parse(delimiter.encode_utf8(&mut [0; 4]))?,
                None => defaults.delimiter,
            };
            let csv = CsvOptions {
                delimiter,
                header: options.header.unwrap_or(defaults.header),
                byte_order_mark: options.byte_order_mark.unwrap_or(defaults.byte_order_mark),
                guard_formulas: options.spreadsheet_safe.unwrap_or(defaults.guard_formulas),
            };
            FileKind::new(Inside::Csv(csv), compressed)
        }
        Format::Ndjson => {
            let wide_numbers = match options.wide_numbers {
                Some(WideNumbers::Text) => Wide::Text,
                Some(WideNumbers::Number) | None => Wide::Number,
            };
            FileKind::new(Inside::Ndjson(NdjsonOptions { wide_numbers }), compressed)
        }
        Format::Parquet => FileKind::new(Inside::Parquet(ParquetOptions { codec: compressed }), Around::None),
    }
}
