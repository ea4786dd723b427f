//! A field's default in Avro's encoding, to be read where the writer has no such field.
//!
//! As Java has it: a fixed type's default of another length is cut or filled up with zeros, and a character beyond U+00FF
//! in a default of bytes is a question mark. A default of a union belongs to the first branch that it is a value of
//! (Avro 1.12.0, "Complex Types", records). Java looks less closely and takes the first record, array, map or enum there is.

use crate::defaults::{self, Found, Shape};
use crate::json::Json;
use crate::schema::{Kind, Primitive, Schema, TypeId};
use crate::wire::{put_long, put_sized};

/// The longest default, and the most values in one. Records whose defaults hold records double at every step.
const BYTES_MAX: usize = 1024 * 1024;
const VALUES_MAX: usize = 100_000;

/// How deep values may lie in one another.
const DEPTH_MAX: usize = 128;

impl Shape for Schema {
    fn shape(&self, id: TypeId) -> Found<'_> {
        Found::Type(&self[id])
    }
}

/// A default that is ready to be read.
#[derive(Debug)]
pub(crate) struct Default {
    pub(crate) bytes: Box<[u8]>,
    /// How many values are in it, itself among them.
    pub(crate) values: usize,
}

/// The bytes of a default of that type, or why it is no value of it.
pub(crate) fn of(schema: &Schema, ty: TypeId, default: &Json) -> Result<Default, String> {
    let mut writing = Writing { schema, out: Vec::new(), values: 0, depth: 0 };
    writing.put(ty, default)?;
    Ok(Default { bytes: writing.out.into(), values: writing.values })
}

struct Writing<'a> {
    schema: &'a Schema,
    out: Vec<u8>,
    values: usize,
    depth: usize,
}

impl Writing<'_> {
    fn put(&mut self, id: TypeId, value: &Json) -> Result<(), String> {
        self.values += 1;
        self.depth += 1;
        if self.out.len() > BYTES_MAX || self.values > VALUES_MAX || self.depth > DEPTH_MAX {
            return Err("it would be longer than a mebibyte, or hold too many values".to_owned());
        }
        let schema = self.schema;
        let ty = &schema[id];
        let mismatch = || format!("{} is no {}", value.kind(), ty.full_name());
        match (&ty.kind, value) {
            (Kind::Primitive(primitive), _) => {
                put_primitive(*primitive, value, &mut self.out).ok_or_else(mismatch)?;
            }
            (Kind::Fixed(fixed), Json::String(text)) => self.put_fixed(fixed.size, text)?,
            (Kind::Enum(symbols), Json::String(symbol)) => {
                let place = symbols.symbols.iter().position(|known| known == symbol);
                let place = place.ok_or_else(|| format!("{symbol:?} is no symbol of {}", symbols.name))?;
                put_long(&mut self.out, place as i64);
            }
            (Kind::Array(of), Json::Array(items)) => {
                self.put_items(items, |this, item| this.put(*of, item))?;
            }
            (Kind::Map(of), Json::Object(entries)) => self.put_items(entries, |this, (key, value)| {
                put_sized(&mut this.out, key.as_bytes());
                this.put(*of, value)
            })?,
            (Kind::Record(record), Json::Object(_)) => {
                for field in &record.fields {
                    let part = value.get(&field.name).or(field.default.as_ref());
                    let missing = || format!("the field {} of {} is missing", field.name, record.name);
                    self.put(field.ty, part.ok_or_else(missing)?)?;
                }
            }
            (Kind::Union(branches), _) => {
                let fits = |branch: &TypeId| {
                    matches!(defaults::is_valid(schema, *branch, value), Ok(true))
                        && is_symbol(schema, *branch, value)
                };
                let first = branches.iter().position(fits);
                let first = first.ok_or_else(|| format!("{} is no value of any branch", value.kind()))?;
                put_long(&mut self.out, first as i64);
                self.put(branches[first], value)?;
            }
            _ => return Err(mismatch()),
        }
        self.depth -= 1;
        Ok(())
    }

    fn put_fixed(&mut self, size: usize, text: &str) -> Result<(), String> {
        // A size that nobody would write a default for is no reason to fill memory with zeros.
        if size > BYTES_MAX {
            return Err("it would be longer than a mebibyte".to_owned());
        }
        let end = self.out.len() + size;
        self.out.extend(latin1(text).take(size));
        self.out.resize(end, 0);
        Ok(())
    }

    fn put_items<T>(
        &mut self,
        items: &[T],
        mut put: impl FnMut(&mut Self, &T) -> Result<(), String>,
    ) -> Result<(), String> {
        if !items.is_empty() {
            put_long(&mut self.out, items.len() as i64);
            items.iter().try_for_each(|item| put(self, item))?;
        }
        put_long(&mut self.out, 0);
        Ok(())
    }
}

/// Whether a text is one of an enum's symbols; anything else is not asked.
fn is_symbol(schema: &Schema, branch: TypeId, value: &Json) -> bool {
    match (&schema[branch].kind, value) {
        (Kind::Enum(symbols), Json::String(text)) => symbols.symbols.contains(text),
        _ => true,
    }
}

fn put_primitive(primitive: Primitive, value: &Json, out: &mut Vec<u8>) -> Option<()> {
    match (primitive, value) {
        (Primitive::Null, Json::Null) => {}
        (Primitive::Boolean, Json::Bool(value)) => out.push(u8::from(*value)),
        (Primitive::Int | Primitive::Long, Json::Integer(value)) => put_long(out, *value),
        (Primitive::Float, value) => out.extend((number(value)? as f32).to_le_bytes()),
        (Primitive::Double, value) => out.extend(number(value)?.to_le_bytes()),
        (Primitive::String, Json::String(text)) => put_sized(out, text.as_bytes()),
        (Primitive::Bytes, Json::String(text)) => put_sized(out, &latin1(text).collect::<Vec<u8>>()),
        _ => return None,
    }
    Some(())
}

fn number(value: &Json) -> Option<f64> {
    match value {
        Json::Integer(value) => Some(*value as f64),
        Json::BigInteger(digits) => digits.parse().ok(),
        Json::Float(value) => Some(*value),
        Json::Null | Json::Bool(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => None,
    }
}

/// Each character is the byte of its number.
fn latin1(text: &str) -> impl Iterator<Item = u8> + '_ {
    text.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?'))
}
