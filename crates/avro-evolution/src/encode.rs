//! A [`Value`], or anything that serialises, becomes bytes.

use serde::Serialize;

use crate::encode_error::{EncodeError, EncodeProblem};
use crate::plan::VALUE_DEPTH_MAX;
use crate::schema::{Kind, Primitive, Schema, Type, TypeId};
use crate::serializer::Serializer;
use crate::value::Value;
use crate::wire::{put_long, put_sized};

impl Schema {
    /// Appends the bytes of a value of this schema.
    ///
    /// # Errors
    /// When it is no such value. What was appended by then is no value, either.
    pub fn encode(&self, value: &Value, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        put(self, self.root(), value, out, 0)
    }

    /// Appends the bytes of anything that serialises: a struct or a map as a record, by the names of its fields and in any
    /// order; a field that is absent as its default; an option as a union with null; a variant as an enum's symbol, or as the
    /// branch of that name.
    ///
    /// # Errors
    /// When it is no value of this schema. What was appended by then is no value, either.
    pub fn serialize<T: Serialize + ?Sized>(&self, value: &T, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        value.serialize(Serializer::new(self, out))
    }

    fn type_of(&self, id: TypeId) -> Option<&Type> {
        self.types().get(id.index())
    }

    /// Whether two of its types are the same, or at least have the same name.
    fn is_same_name(&self, one: TypeId, two: TypeId) -> bool {
        one == two || self.type_of(one).is_some_and(|one| one.full_name() == self[two].full_name())
    }
}

fn put(
    schema: &Schema,
    id: TypeId,
    value: &Value,
    out: &mut Vec<u8>,
    depth: usize,
) -> Result<(), EncodeError> {
    let ty = &schema[id];
    match (&ty.kind, value) {
        (Kind::Primitive(Primitive::Null), Value::Null) => {}
        (Kind::Primitive(Primitive::Boolean), Value::Boolean(value)) => out.push(u8::from(*value)),
        (Kind::Primitive(Primitive::Int), Value::Int(value)) => put_long(out, i64::from(*value)),
        (Kind::Primitive(Primitive::Long), Value::Long(value)) => put_long(out, *value),
        (Kind::Primitive(Primitive::Float), Value::Float(value)) => {
            out.extend_from_slice(&value.to_le_bytes());
        }
        (Kind::Primitive(Primitive::Double), Value::Double(value)) => {
            out.extend_from_slice(&value.to_le_bytes());
        }
        (Kind::Primitive(Primitive::Bytes), Value::Bytes(bytes)) => put_sized(out, bytes),
        (Kind::Primitive(Primitive::String), Value::String(text)) => put_sized(out, text.as_bytes()),
        (Kind::Fixed(fixed), Value::Fixed(of, bytes)) if schema.is_same_name(*of, id) => {
            if bytes.len() != fixed.size {
                return Err(EncodeProblem::WrongLength { expected: fixed.size, found: bytes.len() }.into());
            }
            out.extend_from_slice(bytes);
        }
        (Kind::Enum(symbols), Value::Enum(of, place)) if schema.is_same_name(*of, id) => {
            if *place as usize >= symbols.symbols.len() {
                let (symbol, name) = (place.to_string(), symbols.name.to_string());
                return Err(EncodeProblem::UnknownSymbol { symbol, name }.into());
            }
            put_long(out, i64::from(*place));
        }
        (Kind::Union(branches), value) => {
            let branch = branches.iter().position(|branch| is_of(schema, *branch, value));
            let branch = branch.ok_or_else(|| no_branch(schema, branches, value.kind().to_owned()))?;
            put_long(out, branch as i64);
            return put(schema, branches[branch], value, out, depth);
        }
        (Kind::Array(of), Value::Array(items)) => put_blocks(items, out, depth, |item, at, out| {
            put(schema, *of, item, out, depth + 1).map_err(|error| error.within(at))
        })?,
        (Kind::Map(of), Value::Map(entries)) => put_blocks(entries, out, depth, |(key, value), _, out| {
            put_sized(out, key.as_bytes());
            put(schema, *of, value, out, depth + 1).map_err(|error| error.within(key))
        })?,
        (Kind::Record(record), Value::Record(of, values)) if schema.is_same_name(*of, id) => {
            check_depth(depth)?;
            if values.len() != record.fields.len() {
                let (expected, found) = (record.fields.len(), values.len());
                return Err(EncodeProblem::WrongLength { expected, found }.into());
            }
            for (field, value) in record.fields.iter().zip(values) {
                put(schema, field.ty, value, out, depth + 1).map_err(|error| error.within(&field.name))?;
            }
        }
        _ => {
            let expected = ty.full_name().to_owned();
            return Err(EncodeProblem::Mismatch { expected, found: value.kind() }.into());
        }
    }
    Ok(())
}

fn put_blocks<T>(
    items: &[T],
    out: &mut Vec<u8>,
    depth: usize,
    mut put: impl FnMut(&T, usize, &mut Vec<u8>) -> Result<(), EncodeError>,
) -> Result<(), EncodeError> {
    check_depth(depth)?;
    if !items.is_empty() {
        put_long(out, items.len() as i64);
        for (at, item) in items.iter().enumerate() {
            put(item, at, out)?;
        }
    }
    out.push(0);
    Ok(())
}

/// What is written can be read.
pub(crate) fn check_depth(depth: usize) -> Result<(), EncodeError> {
    if depth >= VALUE_DEPTH_MAX {
        return Err(EncodeProblem::TooDeep { max: VALUE_DEPTH_MAX }.into());
    }
    Ok(())
}

/// Whether a value is one of that type, as far as a union needs to know.
fn is_of(schema: &Schema, branch: TypeId, value: &Value) -> bool {
    match (&schema[branch].kind, value) {
        (Kind::Primitive(primitive), value) => matches!(
            (primitive, value),
            (Primitive::Null, Value::Null)
                | (Primitive::Boolean, Value::Boolean(_))
                | (Primitive::Int, Value::Int(_))
                | (Primitive::Long, Value::Long(_))
                | (Primitive::Float, Value::Float(_))
                | (Primitive::Double, Value::Double(_))
                | (Primitive::Bytes, Value::Bytes(_))
                | (Primitive::String, Value::String(_))
        ),
        (Kind::Array(_), Value::Array(_)) | (Kind::Map(_), Value::Map(_)) => true,
        (Kind::Record(_), Value::Record(of, _))
        | (Kind::Enum(_), Value::Enum(of, _))
        | (Kind::Fixed(_), Value::Fixed(of, _)) => schema.is_same_name(*of, branch),
        _ => false,
    }
}

pub(crate) fn no_branch(schema: &Schema, branches: &[TypeId], found: String) -> EncodeError {
    EncodeProblem::NoBranch { found, branches: names(schema, branches) }.into()
}

pub(crate) fn names(schema: &Schema, branches: &[TypeId]) -> String {
    branches.iter().map(|branch| schema[*branch].full_name()).collect::<Vec<_>>().join(", ")
}

impl Value {
    /// What kind of value it is, for people.
    const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean(_) => "a boolean",
            Self::Int(_) => "an int",
            Self::Long(_) => "a long",
            Self::Float(_) => "a float",
            Self::Double(_) => "a double",
            Self::Bytes(_) => "a value of bytes",
            Self::String(_) => "a string",
            Self::Fixed(..) => "a value of that fixed type",
            Self::Enum(..) => "a symbol of that enum",
            Self::Array(_) => "an array",
            Self::Map(_) => "a map",
            Self::Record(..) => "a record of that type",
        }
    }
}
