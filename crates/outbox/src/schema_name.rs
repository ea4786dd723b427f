//! The name of the schema that an outbox lives in.

use std::fmt;
use std::str::FromStr;

/// The longest name of a schema in bytes; Postgres would cut what is longer.
pub const SCHEMA_NAME_BYTES_MAX: usize = 63;

/// What Postgres keeps for itself.
const RESERVED_PREFIX: &str = "pg_";
const RESERVED: [&str; 1] = ["information_schema"];

/// A schema's name that needs no thought wherever it is written: `a` to `z`, `0` to `9` and `_`, no digit first.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SchemaName(String);

/// The name can be no outbox's schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{name}` can be no outbox's schema: 1 to {SCHEMA_NAME_BYTES_MAX} of a-z 0-9 _, no digit first, and not one that Postgres keeps for itself"
)]
pub struct SchemaNameError {
    name: String,
}

impl SchemaName {
    /// The name as it is, for a column or a parameter.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name as an identifier in a statement; quoted, because it may be a word of the language.
    #[must_use]
    pub fn quoted(&self) -> String {
        format!("\"{}\"", self.0)
    }
}

impl FromStr for SchemaName {
    type Err = SchemaNameError;

    fn from_str(name: &str) -> Result<Self, SchemaNameError> {
        let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let fine = (1..=SCHEMA_NAME_BYTES_MAX).contains(&name.len())
            && name.bytes().all(legal)
            && !name.starts_with(|first: char| first.is_ascii_digit())
            && !name.starts_with(RESERVED_PREFIX)
            && !RESERVED.contains(&name);
        if fine { Ok(Self(name.to_owned())) } else { Err(SchemaNameError { name: name.to_owned() }) }
    }
}

impl fmt::Display for SchemaName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_name_is_taken_and_quoted_even_when_it_is_a_word_of_sql() {
        for name in ["outbox", "shop_outbox", "_x9", "order"] {
            let schema: SchemaName = name.parse().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(schema.quoted(), format!("\"{name}\""));
        }
    }

    #[test]
    fn what_would_need_thought_in_a_statement_is_refused() {
        let long = "x".repeat(SCHEMA_NAME_BYTES_MAX + 1);
        for name in
            ["", "9lives", "Shop", "a-b", "a b", "a\"b", "a.b", "ä", "pg_x", "information_schema", &long]
        {
            assert!(name.parse::<SchemaName>().is_err(), "{name:?}");
        }
    }
}
