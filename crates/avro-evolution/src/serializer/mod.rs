//! Anything that serialises becomes bytes, as the schema says.

mod compound;
mod shape;

use std::fmt::{self, Display};

use serde::ser::{self, Serialize};

use self::compound::{Entries, Fields, Items};
use self::shape::Shape;
use crate::encode::check_depth;
use crate::encode_error::{EncodeError, EncodeProblem};
use crate::schema::{Kind, Primitive, Schema, Type, TypeId};
use crate::wire::{put_long, put_sized};

impl ser::Error for EncodeError {
    fn custom<T: Display>(message: T) -> Self {
        EncodeProblem::Refused(message.to_string()).into()
    }
}

/// Writes one value of one type.
pub(crate) struct Serializer<'o, 's> {
    schema: &'s Schema,
    out: &'o mut Vec<u8>,
    ty: TypeId,
    depth: usize,
}

impl<'o, 's> Serializer<'o, 's> {
    pub(crate) fn new(schema: &'s Schema, out: &'o mut Vec<u8>) -> Self {
        Self { schema, out, ty: schema.root(), depth: 0 }
    }

    fn of(&self) -> &'s Type {
        &self.schema[self.ty]
    }

    fn mismatch(&self, found: Shape<'_>) -> EncodeError {
        let (expected, found) = (self.of().full_name().to_owned(), found.as_str());
        EncodeProblem::Mismatch { expected, found }.into()
    }

    /// Steps into the branch of a union that the value belongs to.
    fn branch(mut self, shape: Shape<'_>) -> Result<Self, EncodeError> {
        if let Kind::Union(branches) = &self.of().kind {
            let branch = shape.branch_of(self.schema, branches)?;
            put_long(self.out, branch as i64);
            self.ty = branches[branch];
        }
        Ok(self)
    }

    /// The primitive that the value is to be, once any union is settled.
    fn primitive(self, shape: Shape<'_>) -> Result<(Self, Primitive), EncodeError> {
        let this = self.branch(shape)?;
        match &this.of().kind {
            Kind::Primitive(primitive) => Ok((this, *primitive)),
            Kind::Array(_)
            | Kind::Map(_)
            | Kind::Union(_)
            | Kind::Record(_)
            | Kind::Enum(_)
            | Kind::Fixed(_) => Err(this.mismatch(shape)),
        }
    }

    fn integer<N: Copy + Display>(self, value: N) -> Result<(), EncodeError>
    where
        i64: TryFrom<N>,
    {
        let (this, primitive) = self.primitive(Shape::Integer)?;
        let long = i64::try_from(value).ok();
        let fitting = match primitive {
            Primitive::Long => long,
            Primitive::Int => long.filter(|long| i32::try_from(*long).is_ok()),
            Primitive::Null
            | Primitive::Boolean
            | Primitive::Float
            | Primitive::Double
            | Primitive::Bytes
            | Primitive::String => return Err(this.mismatch(Shape::Integer)),
        };
        let out_of_range =
            || EncodeProblem::OutOfRange { number: value.to_string(), expected: primitive.as_str() };
        put_long(this.out, fitting.ok_or_else(out_of_range)?);
        Ok(())
    }

    fn null(self) -> Result<(), EncodeError> {
        let (this, primitive) = self.primitive(Shape::Null)?;
        if primitive == Primitive::Null { Ok(()) } else { Err(this.mismatch(Shape::Null)) }
    }

    fn symbol(self, symbol: &str) -> Result<(), EncodeError> {
        let Kind::Enum(symbols) = &self.of().kind else { return Err(self.mismatch(Shape::Variant(symbol))) };
        let place = symbols.symbols.iter().position(|known| known == symbol);
        let place = place.ok_or_else(|| EncodeProblem::UnknownSymbol {
            symbol: symbol.to_owned(),
            name: symbols.name.to_string(),
        })?;
        put_long(self.out, place as i64);
        Ok(())
    }

    fn is_union(&self) -> bool {
        matches!(self.of().kind, Kind::Union(_))
    }
}

macro_rules! integers {
    ($($method:ident $number:ty),*) => {
        $(fn $method(self, value: $number) -> Result<(), EncodeError> {
            self.integer(value)
        })*
    };
}

impl<'o, 's> ser::Serializer for Serializer<'o, 's> {
    type Ok = ();
    type Error = EncodeError;
    type SerializeSeq = Items<'o, 's>;
    type SerializeTuple = Items<'o, 's>;
    type SerializeTupleStruct = Items<'o, 's>;
    type SerializeTupleVariant = Items<'o, 's>;
    type SerializeMap = Entries<'o, 's>;
    type SerializeStruct = Fields<'o, 's>;
    type SerializeStructVariant = Fields<'o, 's>;

    integers! {
        serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64, serialize_i128 i128,
        serialize_u8 u8, serialize_u16 u16, serialize_u32 u32, serialize_u64 u64, serialize_u128 u128
    }

    fn serialize_bool(self, value: bool) -> Result<(), EncodeError> {
        let (this, primitive) = self.primitive(Shape::Boolean)?;
        if primitive != Primitive::Boolean {
            return Err(this.mismatch(Shape::Boolean));
        }
        this.out.push(u8::from(value));
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Result<(), EncodeError> {
        let (this, primitive) = self.primitive(Shape::Float)?;
        match primitive {
            Primitive::Float => this.out.extend_from_slice(&value.to_le_bytes()),
            Primitive::Double => this.out.extend_from_slice(&f64::from(value).to_le_bytes()),
            Primitive::Null
            | Primitive::Boolean
            | Primitive::Int
            | Primitive::Long
            | Primitive::Bytes
            | Primitive::String => return Err(this.mismatch(Shape::Float)),
        }
        Ok(())
    }

    fn serialize_f64(self, value: f64) -> Result<(), EncodeError> {
        let (this, primitive) = self.primitive(Shape::Double)?;
        if primitive != Primitive::Double {
            return Err(this.mismatch(Shape::Double));
        }
        this.out.extend_from_slice(&value.to_le_bytes());
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), EncodeError> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), EncodeError> {
        let this = self.branch(Shape::Text)?;
        match &this.of().kind {
            Kind::Primitive(Primitive::String) => {
                put_sized(this.out, value.as_bytes());
                Ok(())
            }
            Kind::Enum(_) => this.symbol(value),
            Kind::Primitive(_)
            | Kind::Array(_)
            | Kind::Map(_)
            | Kind::Union(_)
            | Kind::Record(_)
            | Kind::Fixed(_) => Err(this.mismatch(Shape::Text)),
        }
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), EncodeError> {
        let this = self.branch(Shape::Bytes)?;
        match &this.of().kind {
            Kind::Primitive(Primitive::Bytes) => put_sized(this.out, value),
            Kind::Fixed(fixed) if fixed.size == value.len() => this.out.extend_from_slice(value),
            Kind::Fixed(fixed) => {
                return Err(EncodeProblem::WrongLength { expected: fixed.size, found: value.len() }.into());
            }
            Kind::Primitive(_)
            | Kind::Array(_)
            | Kind::Map(_)
            | Kind::Union(_)
            | Kind::Record(_)
            | Kind::Enum(_) => return Err(this.mismatch(Shape::Bytes)),
        }
        Ok(())
    }

    fn serialize_none(self) -> Result<(), EncodeError> {
        self.null()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), EncodeError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), EncodeError> {
        self.null()
    }

    /// A struct without fields is a record without fields where the schema has one, and nothing otherwise.
    fn serialize_unit_struct(self, name: &'static str) -> Result<(), EncodeError> {
        if matches!(self.of().kind, Kind::Record(_)) {
            return ser::SerializeStruct::end(self.serialize_struct(name, 0)?);
        }
        self.null()
    }

    /// A symbol of an enum, or a branch of a union that has no more to say than its name.
    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<(), EncodeError> {
        if !self.is_union() {
            return self.symbol_or_text(variant);
        }
        let this = self.branch(Shape::Symbol(variant))?;
        match &this.of().kind {
            Kind::Enum(_) => this.symbol(variant),
            Kind::Primitive(_)
            | Kind::Array(_)
            | Kind::Map(_)
            | Kind::Union(_)
            | Kind::Record(_)
            | Kind::Fixed(_) => this.serialize_unit_struct(variant),
        }
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
        variant: &'static str,
        value: &T,
    ) -> Result<(), EncodeError> {
        value.serialize(self.named_branch(variant)?)
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Items<'o, 's>, EncodeError> {
        Items::begin(self.branch(Shape::Sequence)?, length)
    }

    fn serialize_tuple(self, length: usize) -> Result<Items<'o, 's>, EncodeError> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        length: usize,
    ) -> Result<Items<'o, 's>, EncodeError> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Items<'o, 's>, EncodeError> {
        self.named_branch(variant)?.serialize_seq(Some(length))
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Entries<'o, 's>, EncodeError> {
        Entries::begin(self.branch(Shape::Mapping)?, length)
    }

    fn serialize_struct(self, name: &'static str, _length: usize) -> Result<Fields<'o, 's>, EncodeError> {
        Fields::begin(self.branch(Shape::Struct(name))?)
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _length: usize,
    ) -> Result<Fields<'o, 's>, EncodeError> {
        Fields::begin(self.named_branch(variant)?)
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), EncodeError> {
        self.serialize_str(&fmt::format(format_args!("{value}")))
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

impl Serializer<'_, '_> {
    fn symbol_or_text(self, variant: &str) -> Result<(), EncodeError> {
        match &self.of().kind {
            Kind::Primitive(Primitive::String) => {
                put_sized(self.out, variant.as_bytes());
                Ok(())
            }
            Kind::Primitive(_)
            | Kind::Array(_)
            | Kind::Map(_)
            | Kind::Union(_)
            | Kind::Record(_)
            | Kind::Enum(_)
            | Kind::Fixed(_) => self.symbol(variant),
        }
    }

    /// The branch that a variant with content is called after.
    fn named_branch(self, variant: &str) -> Result<Self, EncodeError> {
        if !self.is_union() {
            return Err(self.mismatch(Shape::Variant(variant)));
        }
        self.branch(Shape::Variant(variant))
    }

    /// Nothing further in may lie deeper than a reader follows.
    fn check_depth(&self) -> Result<(), EncodeError> {
        check_depth(self.depth)
    }
}
