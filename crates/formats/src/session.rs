//! What a session that reads rows for a file must be set to.

/// Name and value of each setting that changes how Postgres writes a value. The reader applies all of them, locally to
/// its transaction, before COPY: two sessions then give the same bytes for the same rows, and no digit is lost.
///
/// From a database of the encoding `SQL_ASCII` texts may come that are not UTF-8, whatever `client_encoding` says; an encoder
/// refuses them. Names that `regclass` and its like write hang on `search_path`, which is the reader's own.
pub const SESSION_SETTINGS: [(&str, &str); 7] = [
    ("TimeZone", "UTC"),
    ("DateStyle", "ISO, YMD"),
    ("IntervalStyle", "iso_8601"),
    ("extra_float_digits", "1"),
    ("bytea_output", "hex"),
    ("lc_monetary", "C"),
    ("client_encoding", "UTF8"),
];
