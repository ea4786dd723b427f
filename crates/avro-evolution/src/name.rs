//! Names of types, fields and symbols.
//!
//! What a letter is, is Unicode's to say here, as it is in Avro's Java library since 1.12, although the specification
//! (1.12.0, "Names") knows only those of ASCII.

use std::fmt;

use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// The full name of a record, an enum or a fixed type, or an alias of one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name {
    full: Box<str>,
    /// Where the short name begins.
    short_at: usize,
}

impl Name {
    /// A name as it is written, in the namespace that surrounds it: one with a dot brings its own. Gives the part that
    /// is no name instead, if there is one; the namespace is not looked at.
    pub(crate) fn written(name: &str, surrounding: Option<&str>) -> Result<Self, String> {
        let (space, short) = match name.rsplit_once('.') {
            Some((space, short)) => (space, short),
            None => (surrounding.unwrap_or_default(), name),
        };
        if !is_name(short) {
            return Err(short.to_owned());
        }
        let (full, short_at) = match space {
            "" => (short.into(), 0),
            _ => (format!("{space}.{short}").into(), space.len() + 1),
        };
        Ok(Self { full, short_at })
    }

    /// With its namespace, as nothing else is called.
    #[must_use]
    pub fn full(&self) -> &str {
        &self.full
    }

    /// Without its namespace.
    #[must_use]
    pub fn short(&self) -> &str {
        &self.full[self.short_at..]
    }

    /// The namespace, if it is in one.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        self.short_at.checked_sub(1).map(|end| &self.full[..end])
    }

    /// The first part of the namespace that is no name.
    pub(crate) fn invalid_namespace_part(&self) -> Option<&str> {
        self.namespace()?.split('.').find(|part| !is_name(part))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.full)
    }
}

/// Whether it may be the name of a field or a symbol, or one part of a type's name.
pub(crate) fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(|first| first == '_' || is_letter(first))
        && characters.all(|c| c == '_' || is_letter(c) || is_digit(c))
}

fn is_letter(c: char) -> bool {
    // Java looks at UTF-16 units, and half of a pair is no letter.
    c.is_ascii_alphabetic()
        || (!c.is_ascii() && c <= '\u{ffff}' && c.general_category_group() == GeneralCategoryGroup::Letter)
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
        || (!c.is_ascii() && c <= '\u{ffff}' && c.general_category() == GeneralCategory::DecimalNumber)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_dot_brings_its_namespace_and_another_takes_the_surrounding_one() {
        let parts = |written: &str, surrounding| {
            let name = Name::written(written, surrounding).unwrap();
            (name.full().to_owned(), name.namespace().map(str::to_owned), name.short().to_owned())
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(parts("A", None), ("A".into(), None, "A".into()));
        assert_eq!(parts("A", Some("a.b")), ("a.b.A".into(), some("a.b"), "A".into()));
        assert_eq!(parts("c.A", Some("a.b")), ("c.A".into(), some("c"), "A".into()));
        assert_eq!(parts(".A", Some("a.b")), ("A".into(), None, "A".into()));
        assert_eq!(parts("A", Some("")), ("A".into(), None, "A".into()));
    }

    #[test]
    fn letters_are_those_of_unicode_and_only_of_its_first_plane() {
        for name in ["a", "_", "A1_", "größe", "订单", "ａ９", "x٣"] {
            assert!(is_name(name), "{name}");
        }
        for no_name in ["", "1a", "a-b", "a.b", "a b", "€", "٣x", "𝒳", "aͤ", "Ⅷ"] {
            assert!(!is_name(no_name), "{no_name}");
        }
    }

    #[test]
    fn each_part_of_a_namespace_is_a_name() {
        let invalid = |written: &str| {
            let name = Name::written(written, None).unwrap();
            name.invalid_namespace_part().map(str::to_owned)
        };
        assert_eq!(invalid("a.b.C"), None);
        assert_eq!(invalid("a..C"), Some(String::new()));
        assert_eq!(invalid("a.1b.C"), Some("1b".to_owned()));
    }
}
