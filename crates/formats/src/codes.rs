//! The codes that a caller or an operator can see from a conversion. Each has a page in `docs/errors`.

/// The format, its options and the compression do not go together.
pub const FORMAT_OPTION_INVALID: &str = "format-option-invalid";
/// A column is of a type that the format cannot hold exactly.
pub const COLUMN_NOT_EXPORTABLE: &str = "column-not-exportable";
/// A row has a value that its column's type in the file cannot hold exactly.
pub const VALUE_NOT_EXPORTABLE: &str = "value-not-exportable";
/// The rows that came from the database are not what COPY writes.
pub const COPY_STREAM_MALFORMED: &str = "copy-stream-malformed";
/// The rows from the database ended in the middle.
pub const COPY_STREAM_CUT: &str = "copy-stream-cut";
/// The file has other than as many rows as the server sent.
pub const ROWS_DIFFER: &str = "rows-differ";
/// The library that writes the format or its compression refused.
pub const FILE_NOT_WRITTEN: &str = "file-not-written";
/// The bytes that were read back are not a whole file of its format.
pub const FILE_UNREADABLE: &str = "file-unreadable";
