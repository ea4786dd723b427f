//! JSON as schemas are written in it.
//!
//! Not `serde_json`'s value, because the rules of schemas ask what that one has forgotten: whether a number was
//! written as an integer, and an integer that no machine word holds. Deliberately absent: any knowledge of Avro.

use std::fmt::{self, Write};

/// A JSON value. The properties of an object keep the order in which they were written.
#[derive(Debug, Clone)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number without fraction and exponent that 64 bits hold.
    Integer(i64),
    /// A number without fraction and exponent that they do not hold: its digits.
    BigInteger(Box<str>),
    /// A number with a fraction or an exponent; infinite where it was too large.
    Float(f64),
    /// A text.
    String(String),
    /// Values in order.
    Array(Vec<Json>),
    /// Named values; no name comes twice.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// The value of that name, where this is an object that has it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        let Self::Object(properties) = self else { return None };
        properties.iter().find(|(found, _)| found == name).map(|(_, value)| value)
    }

    /// The text, where this is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// Whether an integer beyond 64 bits is in it, at any depth.
    pub(crate) fn holds_big_integer(&self) -> bool {
        match self {
            Self::BigInteger(_) => true,
            Self::Array(items) => items.iter().any(Self::holds_big_integer),
            Self::Object(properties) => properties.iter().any(|(_, value)| value.holds_big_integer()),
            Self::Null | Self::Bool(_) | Self::Integer(_) | Self::Float(_) | Self::String(_) => false,
        }
    }

    /// What kind of value it is, for people.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Integer(_) | Self::BigInteger(_) => "an integer",
            Self::Float(_) => "a number",
            Self::String(_) => "a text",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }
}

/// Objects are equal whatever the order of their properties; `1` and `1.0` are not equal.
impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(one), Self::Bool(two)) => one == two,
            (Self::Integer(one), Self::Integer(two)) => one == two,
            (Self::BigInteger(one), Self::BigInteger(two)) => one == two,
            // Of all that is not a number there is one here, and it equals itself.
            (Self::Float(one), Self::Float(two)) => {
                one.to_bits() == two.to_bits() || (one.is_nan() && two.is_nan())
            }
            (Self::String(one), Self::String(two)) => one == two,
            (Self::Array(one), Self::Array(two)) => one == two,
            (Self::Object(one), Self::Object(two)) => same_properties(one, two),
            _ => false,
        }
    }
}

impl Eq for Json {}

/// Whether these are the same names with the same values, in whatever order.
pub(crate) fn same_properties(one: &[(String, Json)], two: &[(String, Json)]) -> bool {
    if one.len() != two.len() {
        return false;
    }
    // In the same order, as they nearly always are, without a search.
    if one == two {
        return true;
    }
    let mut sorted = [one, two].map(|properties| properties.iter().collect::<Vec<_>>());
    sorted.iter_mut().for_each(|properties| properties.sort_by(|a, b| a.0.cmp(&b.0)));
    sorted[0] == sorted[1]
}

/// On one line without spaces. What JSON has no number for is written as a text: `"NaN"`, `"-Infinity"`.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::BigInteger(digits) => f.write_str(digits),
            Self::Float(value) => f.write_str(&float_text(*value)),
            Self::String(text) => f.write_str(&quoted(text)),
            Self::Array(items) => {
                f.write_char('[')?;
                for (index, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if index == 0 { "" } else { "," })?;
                }
                f.write_char(']')
            }
            Self::Object(properties) => {
                f.write_char('{')?;
                for (index, (name, value)) in properties.iter().enumerate() {
                    write!(f, "{}{}:{value}", if index == 0 { "" } else { "," }, quoted(name))?;
                }
                f.write_char('}')
            }
        }
    }
}

/// A text as JSON writes it.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn float_text(value: f64) -> String {
    match serde_json::Number::from_f64(value) {
        Some(number) => number.to_string(),
        None if value.is_nan() => "\"NaN\"".to_owned(),
        None if value < 0.0 => "\"-Infinity\"".to_owned(),
        None => "\"Infinity\"".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_equal_in_any_order_and_numbers_only_as_they_were_written() {
        let pair = |a: &str, b: Json| (a.to_owned(), b);
        let one = Json::Object(vec![pair("a", Json::Integer(1)), pair("b", Json::Null)]);
        let two = Json::Object(vec![pair("b", Json::Null), pair("a", Json::Integer(1))]);
        assert_eq!(one, two);
        assert_ne!(Json::Integer(1), Json::Float(1.0));
        assert_ne!(Json::Float(0.0), Json::Float(-0.0));
        assert_eq!(Json::Float(f64::NAN), Json::Float(-f64::NAN));
    }

    #[test]
    fn what_json_has_no_number_for_is_written_as_a_text() {
        let texts =
            [1.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(|value| Json::Float(value).to_string());
        assert_eq!(texts, ["1.5", "\"NaN\"", "\"Infinity\"", "\"-Infinity\""]);
    }
}
