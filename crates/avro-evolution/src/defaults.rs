//! Whether a default is a value of its field's type (Avro 1.12.0, "Complex Types", records), as Avro's Java library judges it.
//!
//! Java looks at kinds only: a default of an enum may be any text, one of a fixed type may be of any length, and one of a
//! union may be of any branch. What such a default does to a reader is `plan`'s to say.

use std::collections::HashMap;

use crate::error::SchemaProblem;
use crate::json::Json;
use crate::schema::{Kind, Primitive, Type, TypeId};

/// The most of a default that an error shows, in characters.
const SHOWN_CHARACTERS_MAX: usize = 80;

/// What stands for a type while its schema is being made.
pub(crate) enum Found<'a> {
    Type(&'a Type),
    /// To be judged as a record that has no fields.
    EmptyRecord,
    /// A record whose fields are not known yet: called by this name.
    Unfinished,
}

/// Types that may not be finished.
pub(crate) trait Shape {
    fn shape(&self, id: TypeId) -> Found<'_>;
}

/// A default asks for the fields of a record that has none yet.
#[derive(Debug)]
pub(crate) struct Unfinished;

/// Whether it is a value of that type.
pub(crate) fn is_valid(types: &impl Shape, id: TypeId, value: &Json) -> Result<bool, Unfinished> {
    Judge { types, judged: HashMap::new() }.is_valid(id, value)
}

struct Judge<'a, T> {
    types: &'a T,
    /// What was found about the objects and arrays of one default, by where they lie: the branches of unions within unions
    /// would ask about the innermost ones again and again.
    judged: HashMap<(TypeId, *const Json), bool>,
}

impl<T: Shape> Judge<'_, T> {
    fn is_valid(&mut self, id: TypeId, value: &Json) -> Result<bool, Unfinished> {
        if !matches!(value, Json::Object(_) | Json::Array(_)) {
            return self.judge(id, value);
        }
        let key = (id, std::ptr::from_ref(value));
        if let Some(judged) = self.judged.get(&key) {
            return Ok(*judged);
        }
        let judged = self.judge(id, value)?;
        self.judged.insert(key, judged);
        Ok(judged)
    }

    fn judge(&mut self, id: TypeId, value: &Json) -> Result<bool, Unfinished> {
        let ty = match self.types.shape(id) {
            Found::Type(ty) => ty,
            Found::EmptyRecord => return Ok(matches!(value, Json::Object(_))),
            Found::Unfinished if matches!(value, Json::Object(_)) => return Err(Unfinished),
            Found::Unfinished => return Ok(false),
        };
        match &ty.kind {
            Kind::Primitive(primitive) => Ok(is_primitive(*primitive, value)),
            Kind::Enum(_) | Kind::Fixed(_) => Ok(matches!(value, Json::String(_))),
            Kind::Array(item) => {
                let Json::Array(items) = value else { return Ok(false) };
                all(items.iter().map(|value| self.is_valid(*item, value)))
            }
            Kind::Map(of) => {
                let Json::Object(entries) = value else { return Ok(false) };
                all(entries.iter().map(|(_, value)| self.is_valid(*of, value)))
            }
            Kind::Union(branches) => {
                for branch in branches {
                    if self.is_valid(*branch, value)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Kind::Record(record) => {
                if !matches!(value, Json::Object(_)) {
                    return Ok(false);
                }
                all(record.fields.iter().map(|field| match value.get(&field.name) {
                    Some(value) => self.is_valid(field.ty, value),
                    // A field's own default was judged when the field was made.
                    None => Ok(field.default.is_some()),
                }))
            }
        }
    }
}

fn is_primitive(primitive: Primitive, value: &Json) -> bool {
    match primitive {
        Primitive::Null => matches!(value, Json::Null),
        Primitive::Boolean => matches!(value, Json::Bool(_)),
        Primitive::Int => matches!(value, Json::Integer(value) if i32::try_from(*value).is_ok()),
        Primitive::Long => matches!(value, Json::Integer(_)),
        Primitive::Float | Primitive::Double => {
            matches!(value, Json::Integer(_) | Json::BigInteger(_) | Json::Float(_))
        }
        Primitive::String | Primitive::Bytes => matches!(value, Json::String(_)),
    }
}

fn all(mut judged: impl Iterator<Item = Result<bool, Unfinished>>) -> Result<bool, Unfinished> {
    judged.find(|judged| !matches!(judged, Ok(true))).unwrap_or(Ok(true))
}

/// The problem that a field's default is.
pub(crate) fn invalid(types: &impl Shape, field: &str, id: TypeId, default: &Json) -> SchemaProblem {
    let expected = match types.shape(id) {
        Found::Type(Type { kind: Kind::Union(branches), .. }) => {
            let names: Vec<&str> = branches.iter().map(|branch| name(types, *branch)).collect();
            format!("value of any of {}", names.join(", "))
        }
        Found::Type(_) | Found::EmptyRecord | Found::Unfinished => name(types, id).to_owned(),
    };
    let mut default = default.to_string();
    if let Some((end, _)) = default.char_indices().nth(SHOWN_CHARACTERS_MAX) {
        default.truncate(end);
        default.push('…');
    }
    SchemaProblem::InvalidDefault { field: field.to_owned(), default, expected }
}

fn name(types: &impl Shape, id: TypeId) -> &str {
    match types.shape(id) {
        Found::Type(ty) => ty.full_name(),
        Found::EmptyRecord => "record (its type is defined further down: define it before)",
        Found::Unfinished => "record",
    }
}

/// The number that a text means as the default of a float or a double: what Java's `Double.parseDouble` takes, except for
/// hexadecimal numbers.
pub(crate) fn number_in_text(text: &str) -> Option<f64> {
    let text = text.trim_matches(|c: char| c <= ' ');
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    match unsigned {
        "NaN" => return Some(f64::NAN),
        "Infinity" => return Some(sign * f64::INFINITY),
        _ => {}
    }
    let digits = unsigned.strip_suffix(['f', 'F', 'd', 'D']).unwrap_or(unsigned);
    // Rust also takes words here, and nothing else that Java does not.
    let plain =
        digits.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'));
    let begins = digits.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    if plain && begins { digits.parse().ok().map(|number: f64| sign * number) } else { None }
}

#[cfg(test)]
mod tests {
    use super::number_in_text;

    #[test]
    fn a_text_is_a_number_where_java_reads_one_from_it() {
        for (text, number) in [
            ("1.5", 1.5),
            (" -2e3\t", -2000.0),
            ("+.5f", 0.5),
            ("1.D", 1.0),
            ("Infinity", f64::INFINITY),
            ("-Infinity", f64::NEG_INFINITY),
            ("1e999", f64::INFINITY),
            ("-0", -0.0),
        ] {
            assert_eq!(number_in_text(text).map(f64::to_bits), Some(number.to_bits()), "{text}");
        }
        assert!(number_in_text("NaN").is_some_and(f64::is_nan));
        for text in
            ["", " ", "infinity", "inf", "nan", "1,5", "1 5", "--1", "f", ".", "e5", "1ff", "0x1p3", "1e"]
        {
            assert_eq!(number_in_text(text), None, "{text}");
        }
    }
}
