//! Names in statements (PostgreSQL, section 4.1.1).

/// An identifier in quotes.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
