//! Attributes: their names, their values, and what CloudEvents asks of each (CloudEvents 1.0.2, "Context Attributes").

use super::media_type::MediaType;
use super::time::EventTime;
use super::{
    ATTRIBUTE_BYTES_MAX, DATA_CONTENT_TYPE, DATA_SCHEMA, ID, SOURCE, SPEC_VERSION, SPECVERSION, SUBJECT,
    TIME, TYPE,
};
use crate::error::Malformed;

/// An attribute of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    /// Lower-case letters and digits of ASCII.
    pub name: String,
    /// What it says.
    pub value: AttributeValue,
}

/// A value of CloudEvents' type system. Binary values, URIs and times are texts in both modes; binary mode knows texts only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttributeValue {
    /// A text.
    Text(String),
    /// A whole number of 32 bits with a sign.
    Integer(i32),
    /// Yes or no.
    Boolean(bool),
}

impl AttributeValue {
    /// The text, where it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Integer(_) | Self::Boolean(_) => None,
        }
    }

    /// What binary mode says (CloudEvents 1.0.2, "Type System": the canonical string).
    pub fn canonical(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Integer(number) => number.to_string(),
            Self::Boolean(boolean) => boolean.to_string(),
        }
    }
}

impl Attribute {
    /// An attribute with a text.
    pub fn text(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), value: AttributeValue::Text(text.into()) }
    }

    /// What can be said of one attribute alone.
    pub(super) fn check(&self) -> Result<(), Malformed> {
        if !is_name(&self.name) {
            return Err(Malformed::AttributeName { found: self.name.clone() });
        }
        let AttributeValue::Text(text) = &self.value else {
            return if is_core(&self.name) { Err(self.of_another_type()) } else { Ok(()) };
        };
        if text.chars().any(is_excluded) {
            return Err(Malformed::AttributeCharacter { attribute: self.name.clone() });
        }
        if is_core(&self.name) && text.is_empty() {
            return Err(Malformed::AttributeEmpty { attribute: self.name.clone() });
        }
        if is_core(&self.name) && text.len() > ATTRIBUTE_BYTES_MAX {
            return Err(Malformed::AttributeTooLong { attribute: self.name.clone(), bytes: text.len() });
        }
        match self.name.as_str() {
            SPECVERSION if text != SPEC_VERSION => Err(Malformed::SpecVersion { found: text.clone() }),
            SOURCE if !is_uri_reference(text) => Err(Malformed::Source),
            TIME if EventTime::parse(text).is_none() => Err(Malformed::Time),
            DATA_SCHEMA if !is_uri(text) => Err(Malformed::DataSchema),
            DATA_CONTENT_TYPE if MediaType::parse(text).is_none() => {
                Err(Malformed::ContentType { found: text.clone() })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn of_another_type(&self) -> Malformed {
        Malformed::AttributeType { attribute: self.name.clone() }
    }
}

/// Those that CloudEvents itself names: each a text that is not empty.
fn is_core(name: &str) -> bool {
    [SPECVERSION, ID, SOURCE, TYPE, DATA_CONTENT_TYPE, DATA_SCHEMA, SUBJECT, TIME].contains(&name)
}

/// "Attribute Naming Convention"; `data` is a member of the JSON format and no attribute.
fn is_name(name: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    !name.is_empty() && name != "data" && name.bytes().all(legal)
}

/// U+0000-1F, U+007F-9F and Unicode's noncharacters: CloudEvents 1.0.2, "Type System", String.
fn is_excluded(character: char) -> bool {
    let code = u32::from(character);
    character.is_control() || matches!(code, 0xFDD0..=0xFDEF) || code & 0xFFFE == 0xFFFE
}

/// Whether every character is one of RFC 3986's, section 2. The grammar above them is the producer's business: the
/// source is compared and never followed.
pub(crate) fn is_uri_reference(text: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte);
    !text.is_empty() && text.bytes().all(legal)
}

/// A URI, which begins with a scheme (RFC 3986, section 3.1).
fn is_uri(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once(':') else { return false };
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(legal)
        && is_uri_reference(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_uri_references() {
        for good in
            ["urn:waybill:exports", "https://example.com/exports?a=%20", "/exports", "exports", "#fragment"]
        {
            assert!(is_uri_reference(good), "{good}");
        }
        for bad in ["", "two words", "urn:出口", "urn:<a>", "a\"b"] {
            assert!(!is_uri_reference(bad), "{bad}");
        }
    }

    #[test]
    fn data_schemas_are_uris_with_a_scheme() {
        for good in ["https://example.com/schema", "urn:schema:1", "a+b.c-1:x"] {
            assert!(is_uri(good), "{good}");
        }
        for bad in ["", "/schema", "schema", "1a:x", ":x", "urn:two words"] {
            assert!(!is_uri(bad), "{bad}");
        }
    }

    #[test]
    fn names_are_lower_case_letters_and_digits() {
        for good in ["id", "traceparent", "a1", "comexampleextension1"] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "data", "data_base64", "MyExtension", "my.extension", "é", "a b"] {
            assert!(!is_name(bad), "{bad}");
        }
    }

    #[test]
    fn texts_hold_no_control_character_and_no_noncharacter() {
        for excluded in [
            '\0',
            '\u{1f}',
            '\u{7f}',
            '\u{9f}',
            '\u{fdd0}',
            '\u{fdef}',
            '\u{fffe}',
            '\u{1ffff}',
            '\u{10ffff}',
        ] {
            assert!(is_excluded(excluded), "{excluded:?}");
        }
        for legal in [' ', '~', '\u{a0}', '出', '\u{fdcf}', '\u{fffd}', '\u{1f4e6}'] {
            assert!(!is_excluded(legal), "{legal:?}");
        }
    }
}
