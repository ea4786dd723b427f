//! Values that hold others, one part after another.

use serde::ser::{self, Serialize};

use super::Serializer;
use super::shape::Shape;
use crate::default_bytes;
use crate::encode_error::{EncodeError, EncodeProblem};
use crate::schema::{Kind, Primitive, Record, Schema, TypeId};
use crate::wire::{put_long, put_sized};

/// The items of an array, or numbers that are the bytes of one value.
pub(crate) struct Items<'o, 's> {
    schema: &'s Schema,
    out: &'o mut Vec<u8>,
    depth: usize,
    into: Into,
    count: usize,
    /// How many there are to be, where that was said.
    length: Option<usize>,
}

enum Into {
    /// An array. Where its length was not said, its items wait here for their number.
    Array(TypeId, Vec<u8>),
    /// `None` for any number of bytes.
    Bytes(Option<usize>, Vec<u8>),
}

impl<'o, 's> Items<'o, 's> {
    pub(super) fn begin(serializer: Serializer<'o, 's>, length: Option<usize>) -> Result<Self, EncodeError> {
        serializer.check_depth()?;
        let into = match &serializer.of().kind {
            Kind::Array(of) => Into::Array(*of, Vec::new()),
            Kind::Primitive(Primitive::Bytes) => Into::Bytes(None, Vec::new()),
            Kind::Fixed(fixed) => Into::Bytes(Some(fixed.size), Vec::new()),
            Kind::Primitive(_) | Kind::Map(_) | Kind::Union(_) | Kind::Record(_) | Kind::Enum(_) => {
                return Err(serializer.mismatch(Shape::Sequence));
            }
        };
        let Serializer { schema, out, depth, .. } = serializer;
        if let (Into::Array(..), Some(length @ 1..)) = (&into, length) {
            put_long(out, length as i64);
        }
        Ok(Self { schema, out, depth, into, count: 0, length })
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), EncodeError> {
        let (schema, depth, at) = (self.schema, self.depth + 1, self.count);
        self.count += 1;
        let outcome = match &mut self.into {
            Into::Array(ty, waiting) => {
                let out = if self.length.is_some() { &mut *self.out } else { waiting };
                value.serialize(Serializer { schema, out, ty: *ty, depth })
            }
            Into::Bytes(_, bytes) => value.serialize(Byte(bytes)),
        };
        outcome.map_err(|error| error.within(at))
    }

    fn end(self) -> Result<(), EncodeError> {
        if let Some(expected) = self.length.filter(|&length| length != self.count) {
            return Err(EncodeProblem::WrongLength { expected, found: self.count }.into());
        }
        match self.into {
            Into::Array(_, waiting) => {
                if self.length.is_none() && self.count > 0 {
                    put_long(self.out, self.count as i64);
                    self.out.extend_from_slice(&waiting);
                }
                self.out.push(0);
            }
            Into::Bytes(None, bytes) => put_sized(self.out, &bytes),
            Into::Bytes(Some(size), bytes) if size == bytes.len() => self.out.extend_from_slice(&bytes),
            Into::Bytes(Some(expected), bytes) => {
                return Err(EncodeProblem::WrongLength { expected, found: bytes.len() }.into());
            }
        }
        Ok(())
    }
}

/// Takes one number from 0 to 255.
struct Byte<'v>(&'v mut Vec<u8>);

macro_rules! no_byte {
    ($($method:ident($($argument:ty),*) $(-> $part:ty)?),* $(,)?) => {
        $(fn $method(self, $(_: $argument),*) -> Result<no_byte!(@ $($part)?), EncodeError> {
            Err(Self::refusal())
        })*
    };
    (@) => { () };
    (@ $part:ty) => { $part };
}

impl Byte<'_> {
    fn refusal() -> EncodeError {
        EncodeProblem::Mismatch { expected: "number from 0 to 255".to_owned(), found: "this" }.into()
    }

    fn push(self, value: impl TryInto<u8>) -> Result<(), EncodeError> {
        self.0.push(value.try_into().map_err(|_out_of_range| Self::refusal())?);
        Ok(())
    }
}

type NoPart = ser::Impossible<(), EncodeError>;

impl ser::Serializer for Byte<'_> {
    type Ok = ();
    type Error = EncodeError;
    type SerializeSeq = NoPart;
    type SerializeTuple = NoPart;
    type SerializeTupleStruct = NoPart;
    type SerializeTupleVariant = NoPart;
    type SerializeMap = NoPart;
    type SerializeStruct = NoPart;
    type SerializeStructVariant = NoPart;

    fn serialize_u8(self, value: u8) -> Result<(), EncodeError> {
        self.push(value)
    }

    fn serialize_u16(self, value: u16) -> Result<(), EncodeError> {
        self.push(value)
    }

    fn serialize_u32(self, value: u32) -> Result<(), EncodeError> {
        self.push(value)
    }

    fn serialize_u64(self, value: u64) -> Result<(), EncodeError> {
        self.push(value)
    }

    fn serialize_i32(self, value: i32) -> Result<(), EncodeError> {
        self.push(value)
    }

    fn serialize_i64(self, value: i64) -> Result<(), EncodeError> {
        self.push(value)
    }

    no_byte! {
        serialize_bool(bool), serialize_i8(i8), serialize_i16(i16), serialize_f32(f32), serialize_f64(f64),
        serialize_char(char), serialize_str(&str), serialize_bytes(&[u8]), serialize_none(), serialize_unit(),
        serialize_unit_struct(&'static str), serialize_unit_variant(&'static str, u32, &'static str),
        serialize_seq(Option<usize>) -> NoPart, serialize_tuple(usize) -> NoPart,
        serialize_tuple_struct(&'static str, usize) -> NoPart,
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> NoPart,
        serialize_map(Option<usize>) -> NoPart, serialize_struct(&'static str, usize) -> NoPart,
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> NoPart,
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), EncodeError> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<(), EncodeError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _value: &T,
    ) -> Result<(), EncodeError> {
        Err(Self::refusal())
    }
}

macro_rules! items {
    ($($part:ident $method:ident),*) => {
        $(impl ser::$part for Items<'_, '_> {
            type Ok = ();
            type Error = EncodeError;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), EncodeError> {
                self.item(value)
            }

            fn end(self) -> Result<(), EncodeError> {
                self.end()
            }
        })*
    };
}

items! {
    SerializeSeq serialize_element, SerializeTuple serialize_element, SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field
}

/// The fields of a record, in whatever order they come.
pub(crate) struct Fields<'o, 's> {
    schema: &'s Schema,
    out: &'o mut Vec<u8>,
    depth: usize,
    record: &'s Record,
    /// The field that is to be written next.
    next: usize,
    /// The bytes of fields that came before their turn; empty until one does.
    early: Vec<Option<Vec<u8>>>,
}

impl<'o, 's> Fields<'o, 's> {
    pub(super) fn begin(serializer: Serializer<'o, 's>) -> Result<Self, EncodeError> {
        let Kind::Record(record) = &serializer.of().kind else {
            return Err(serializer.mismatch(Shape::Struct("")));
        };
        serializer.check_depth()?;
        let Serializer { schema, out, depth, .. } = serializer;
        Ok(Self { schema, out, depth, record, next: 0, early: Vec::new() })
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), EncodeError> {
        let (schema, depth) = (self.schema, self.depth + 1);
        if let Some(field) = self.record.fields.get(self.next).filter(|field| field.name == name) {
            let serializer = Serializer { schema, out: &mut *self.out, ty: field.ty, depth };
            value.serialize(serializer).map_err(|error| error.within(name))?;
            self.next += 1;
            self.write_early();
            return Ok(());
        }
        let unknown = || EncodeProblem::UnknownField { field: name.to_owned() };
        let (at, field) = self.record.field(name).ok_or_else(unknown)?;
        self.early.resize(self.record.fields.len(), None);
        if at < self.next || self.early[at].is_some() {
            return Err(EncodeProblem::Refused(format!("the field {name} comes twice")).into());
        }
        let mut out = Vec::new();
        let serializer = Serializer { schema, out: &mut out, ty: field.ty, depth };
        value.serialize(serializer).map_err(|error| error.within(name))?;
        self.early[at] = Some(out);
        Ok(())
    }

    fn write_early(&mut self) {
        while let Some(bytes) = self.early.get_mut(self.next).and_then(Option::take) {
            self.out.extend_from_slice(&bytes);
            self.next += 1;
        }
    }

    fn end(mut self) -> Result<(), EncodeError> {
        while let Some(field) = self.record.fields.get(self.next) {
            let missing = || EncodeProblem::MissingField { field: field.name.clone() };
            let default = field.default.as_ref().ok_or_else(missing)?;
            let default = default_bytes::of(self.schema, field.ty, default).map_err(|_no_value| missing())?;
            self.out.extend_from_slice(&default.bytes);
            self.next += 1;
            self.write_early();
        }
        Ok(())
    }
}

macro_rules! fields {
    ($($part:ident),*) => {
        $(impl ser::$part for Fields<'_, '_> {
            type Ok = ();
            type Error = EncodeError;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), EncodeError> {
                self.field(name, value)
            }

            fn end(self) -> Result<(), EncodeError> {
                self.end()
            }
        })*
    };
}

fields!(SerializeStruct, SerializeStructVariant);

/// The entries of a map, or the fields of a record.
pub(crate) enum Entries<'o, 's> {
    Record {
        fields: Fields<'o, 's>,
        key: Option<String>,
    },
    Map {
        schema: &'s Schema,
        out: &'o mut Vec<u8>,
        depth: usize,
        of: TypeId,
        /// They wait here for their number.
        entries: Vec<u8>,
        count: usize,
    },
}

impl<'o, 's> Entries<'o, 's> {
    pub(super) fn begin(serializer: Serializer<'o, 's>, _length: Option<usize>) -> Result<Self, EncodeError> {
        let Kind::Map(of) = &serializer.of().kind else {
            return Ok(Self::Record { fields: Fields::begin(serializer)?, key: None });
        };
        serializer.check_depth()?;
        let Serializer { schema, out, depth, .. } = serializer;
        Ok(Self::Map { schema, out, depth, of: *of, entries: Vec::new(), count: 0 })
    }
}

impl ser::SerializeMap for Entries<'_, '_> {
    type Ok = ();
    type Error = EncodeError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), EncodeError> {
        let text = key.serialize(serde_json::value::Serializer);
        let text = text.map_err(|error| EncodeProblem::Refused(error.to_string()))?;
        // A number or a boolean is a key by its digits or its name.
        let text = match text {
            serde_json::Value::String(text) => text,
            serde_json::Value::Bool(_) | serde_json::Value::Number(_) => text.to_string(),
            serde_json::Value::Null | serde_json::Value::Array(_) | serde_json::Value::Object(_) => {
                return Err(EncodeProblem::Refused("a key has to be a text".to_owned()).into());
            }
        };
        match self {
            Self::Record { key, .. } => *key = Some(text),
            Self::Map { entries, count, .. } => {
                put_sized(entries, text.as_bytes());
                *count += 1;
            }
        }
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), EncodeError> {
        match self {
            Self::Record { fields, key } => {
                let key =
                    key.take().ok_or_else(|| EncodeProblem::Refused("a value without its key".to_owned()))?;
                fields.field(&key, value)
            }
            Self::Map { schema, depth, of, entries, count, .. } => {
                let serializer = Serializer { schema, out: entries, ty: *of, depth: *depth + 1 };
                let at = *count - 1;
                value.serialize(serializer).map_err(|error| error.within(at))
            }
        }
    }

    fn end(self) -> Result<(), EncodeError> {
        match self {
            Self::Record { fields, .. } => fields.end(),
            Self::Map { out, entries, count, .. } => {
                if count > 0 {
                    put_long(out, count as i64);
                    out.extend_from_slice(&entries);
                }
                out.push(0);
                Ok(())
            }
        }
    }
}
