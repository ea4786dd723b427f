//! Bytes become whatever type deserialises from them, in one pass over a plan.
//!
//! Texts and bytes are lent from the input where the type can borrow.

use std::fmt;

use serde::de::{
    self, DeserializeSeed, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, VariantAccess, Visitor,
};

use crate::decode::{Block, Decoding, skip};
use crate::decode_error::DecodeError;
use crate::plan::{Items, Op, OpId, RecordOp, Step};
use crate::schema::{Kind, Schema, TypeId};

impl de::Error for DecodeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::Refused { at: 0, why: message.to_string().into() }
    }
}

/// The value that comes next.
pub(crate) fn deserialize<'b, T: de::Deserialize<'b>>(
    decoding: &mut Decoding<'b>,
    op: OpId,
) -> Result<T, DecodeError> {
    T::deserialize(Deserializer { decoding, op })
}

struct Deserializer<'d, 'b> {
    decoding: &'d mut Decoding<'b>,
    op: OpId,
}

impl<'b> Deserializer<'_, 'b> {
    /// Says where a type refused a value.
    fn placed<T>(at: usize, outcome: Result<T, DecodeError>) -> Result<T, DecodeError> {
        outcome.map_err(|error| {
            if let DecodeError::Refused { at: 0, why } = error {
                DecodeError::Refused { at, why }
            } else {
                error
            }
        })
    }

    /// Goes on to the branch that comes.
    fn chosen(self) -> Result<Self, DecodeError> {
        let mut op = self.op;
        let plan = self.decoding.plan;
        while let Op::Union(branches) = plan.op(op) {
            op = self.decoding.branch(branches)?;
        }
        Ok(Self { decoding: self.decoding, op })
    }

    fn any<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let Self { decoding, op } = self;
        let plan = decoding.plan;
        let input = &mut decoding.input;
        match plan.op(op) {
            Op::Null => visitor.visit_unit(),
            Op::Boolean => visitor.visit_bool(input.boolean()?),
            Op::Int => visitor.visit_i32(input.int()?),
            Op::Long => visitor.visit_i64(input.long()?),
            Op::Float => visitor.visit_f32(input.float()?),
            Op::Double => visitor.visit_f64(input.double()?),
            Op::Bytes => visitor.visit_borrowed_bytes(input.sized()?),
            Op::String | Op::BytesAsString => visitor.visit_borrowed_str(input.text()?),
            Op::Fixed { size, .. } => visitor.visit_borrowed_bytes(input.take(*size)?),
            Op::IntAsLong => visitor.visit_i64(input.int()?.into()),
            Op::IntAsFloat => visitor.visit_f32(input.int()? as f32),
            Op::IntAsDouble => visitor.visit_f64(input.int()?.into()),
            Op::LongAsFloat => visitor.visit_f32(input.long()? as f32),
            Op::LongAsDouble => visitor.visit_f64(input.long()? as f64),
            Op::FloatAsDouble => visitor.visit_f64(input.float()?.into()),
            Op::Enum { ty, symbols } => {
                let symbol = decoding.symbol(symbols)?;
                visitor.visit_borrowed_str(symbol_name(&plan.reader, *ty, symbol))
            }
            Op::Array(items) => {
                decoding.enter()?;
                let blocks = Blocks::new(*items, 0);
                let value = visitor.visit_seq(ArrayItems { decoding, blocks })?;
                decoding.leave();
                Ok(value)
            }
            Op::Map(items) => {
                decoding.enter()?;
                let blocks = Blocks::new(*items, 1);
                let value = visitor.visit_map(MapEntries { decoding, blocks })?;
                decoding.leave();
                Ok(value)
            }
            Op::Record(record) => {
                decoding.enter()?;
                let value = visitor.visit_map(Fields { decoding, record, next: 0 })?;
                decoding.leave();
                Ok(value)
            }
            Op::Union(_) => Deserializer { decoding, op }.chosen()?.any(visitor),
            Op::Branch { op, .. } => Deserializer { decoding, op: *op }.any(visitor),
            Op::Unreadable(why) => Err(decoding.unreadable(why)),
        }
    }
}

fn symbol_name(reader: &Schema, ty: TypeId, symbol: u32) -> &str {
    match &reader[ty].kind {
        Kind::Enum(symbols) => symbols.symbols.get(symbol as usize).map_or("", String::as_str),
        Kind::Primitive(_)
        | Kind::Array(_)
        | Kind::Map(_)
        | Kind::Union(_)
        | Kind::Record(_)
        | Kind::Fixed(_) => "",
    }
}

macro_rules! as_it_comes {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            self.deserialize_any(visitor)
        })*
    };
}

impl<'b> de::Deserializer<'b> for Deserializer<'_, 'b> {
    type Error = DecodeError;

    as_it_comes! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32
        deserialize_f64 deserialize_char deserialize_str deserialize_string deserialize_bytes
        deserialize_byte_buf deserialize_unit deserialize_map deserialize_identifier
    }

    /// Bytes are a sequence of numbers for a type that knows no bytes.
    fn deserialize_seq<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let at = self.decoding.input.position();
        let mut chosen = self.chosen()?;
        let plan = chosen.decoding.plan;
        while let Op::Branch { op, .. } = plan.op(chosen.op) {
            chosen.op = *op;
        }
        let input = &mut chosen.decoding.input;
        let bytes = if let Op::Fixed { size, .. } = plan.op(chosen.op) {
            input.take(*size)?
        } else if matches!(plan.op(chosen.op), Op::Bytes) {
            input.sized()?
        } else {
            return Self::placed(at, chosen.any(visitor));
        };
        let outcome = visitor.visit_seq(de::value::SeqDeserializer::new(bytes.iter().copied()));
        Self::placed(at, outcome)
    }

    fn deserialize_any<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let at = self.decoding.input.position();
        let outcome = self.any(visitor);
        Self::placed(at, outcome)
    }

    /// Null is nothing, and all else is something.
    fn deserialize_option<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let at = self.decoding.input.position();
        let mut chosen = self.chosen()?;
        let plan = chosen.decoding.plan;
        if let Op::Branch { union, op, .. } = plan.op(chosen.op) {
            if matches!(plan.op(*op), Op::Null) {
                return visitor.visit_none();
            }
            // With null and one other branch, the union is said by the option: what is in it is no variant any more.
            if matches!(&plan.reader[*union].kind, Kind::Union(branches) if branches.len() <= 2) {
                chosen.op = *op;
            }
        }
        if matches!(plan.op(chosen.op), Op::Null) {
            return visitor.visit_none();
        }
        Self::placed(at, visitor.visit_some(chosen))
    }

    fn deserialize_unit_struct<V: Visitor<'b>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.deserialize_any(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'b>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'b>>(self, _length: usize, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'b>>(
        self,
        _name: &'static str,
        _length: usize,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.deserialize_any(visitor)
    }

    fn deserialize_struct<V: Visitor<'b>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.deserialize_any(visitor)
    }

    /// A symbol is a variant without content; a branch of a union is a variant with it.
    fn deserialize_enum<V: Visitor<'b>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        let at = self.decoding.input.position();
        let mut chosen = self.chosen()?;
        let plan = chosen.decoding.plan;
        if let Op::Branch { union, branch, op } = plan.op(chosen.op) {
            let is_symbol = matches!(plan.op(*op), Op::Enum { .. });
            if is_symbol && !variants.contains(&branch_name(&plan.reader, *union, *branch)) {
                chosen.op = *op;
            }
        }
        let op = plan.op(chosen.op);
        let outcome = if let Op::Branch { union, branch, op } = op {
            let name = branch_name(&plan.reader, *union, *branch);
            visitor.visit_enum(BranchVariant { decoding: chosen.decoding, op: *op, name })
        } else if let Op::Enum { ty, symbols } = op {
            let symbol = chosen.decoding.symbol(symbols)?;
            visitor.visit_enum(symbol_name(&plan.reader, *ty, symbol).into_deserializer())
        } else if matches!(op, Op::String | Op::BytesAsString) {
            visitor.visit_enum(chosen.decoding.input.text()?.into_deserializer())
        } else {
            chosen.any(visitor)
        };
        Self::placed(at, outcome)
    }

    fn deserialize_ignored_any<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        skip(self.decoding, self.op)?;
        visitor.visit_unit()
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// What tells a branch from the others, without its namespace.
fn branch_name(reader: &Schema, union: TypeId, branch: u32) -> &str {
    let Kind::Union(branches) = &reader[union].kind else { return "" };
    branches.get(branch as usize).map_or("", |branch| {
        let ty = &reader[*branch];
        ty.named().map_or_else(|| ty.kind.as_str(), |named| named.name.short())
    })
}

/// The items of an array or a map, block by block.
struct Blocks {
    op: OpId,
    bytes_min: usize,
    block: Option<Block>,
    left: usize,
}

impl Blocks {
    fn new(items: Items, key_bytes_min: usize) -> Self {
        Self { op: items.op, bytes_min: items.bytes_min + key_bytes_min, block: None, left: 0 }
    }

    /// Whether one more item comes.
    fn advance(&mut self, decoding: &mut Decoding<'_>) -> Result<bool, DecodeError> {
        if self.left == 0 {
            if let Some(block) = self.block.take() {
                if block.count == 0 {
                    self.block = Some(block);
                    return Ok(false);
                }
                decoding.end_block(block)?;
            }
            let block = decoding.block(self.bytes_min)?;
            self.left = block.count;
            self.block = Some(block);
            if block.count == 0 {
                return Ok(false);
            }
        }
        self.left -= 1;
        Ok(true)
    }
}

struct ArrayItems<'d, 'b> {
    decoding: &'d mut Decoding<'b>,
    blocks: Blocks,
}

impl<'b> SeqAccess<'b> for ArrayItems<'_, 'b> {
    type Error = DecodeError;

    fn next_element_seed<S: DeserializeSeed<'b>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, DecodeError> {
        if !self.blocks.advance(self.decoding)? {
            return Ok(None);
        }
        seed.deserialize(Deserializer { decoding: self.decoding, op: self.blocks.op }).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.blocks.left)
    }
}

struct MapEntries<'d, 'b> {
    decoding: &'d mut Decoding<'b>,
    blocks: Blocks,
}

impl<'b> MapAccess<'b> for MapEntries<'_, 'b> {
    type Error = DecodeError;

    fn next_key_seed<S: DeserializeSeed<'b>>(&mut self, seed: S) -> Result<Option<S::Value>, DecodeError> {
        if !self.blocks.advance(self.decoding)? {
            return Ok(None);
        }
        let key = self.decoding.input.text()?;
        seed.deserialize(de::value::BorrowedStrDeserializer::new(key)).map(Some)
    }

    /// Of the block that has begun; others may follow.
    fn size_hint(&self) -> Option<usize> {
        Some(self.blocks.left)
    }

    fn next_value_seed<S: DeserializeSeed<'b>>(&mut self, seed: S) -> Result<S::Value, DecodeError> {
        seed.deserialize(Deserializer { decoding: self.decoding, op: self.blocks.op })
    }
}

struct Fields<'d, 'b> {
    decoding: &'d mut Decoding<'b>,
    record: &'b RecordOp,
    next: usize,
}

impl<'b> MapAccess<'b> for Fields<'_, 'b> {
    type Error = DecodeError;

    fn next_key_seed<S: DeserializeSeed<'b>>(&mut self, seed: S) -> Result<Option<S::Value>, DecodeError> {
        loop {
            let Some(step) = self.record.steps.get(self.next) else { return Ok(None) };
            match step {
                Step::Skip { op } => {
                    skip(self.decoding, *op)?;
                    self.next += 1;
                }
                Step::Field { at, .. } | Step::Default { at, .. } => {
                    let name = self.name(*at);
                    return seed.deserialize(de::value::BorrowedStrDeserializer::new(name)).map(Some);
                }
            }
        }
    }

    fn next_value_seed<S: DeserializeSeed<'b>>(&mut self, seed: S) -> Result<S::Value, DecodeError> {
        let step = self.record.steps.get(self.next);
        self.next += 1;
        match step {
            Some(Step::Field { op, .. }) => {
                seed.deserialize(Deserializer { decoding: self.decoding, op: *op })
            }
            Some(Step::Default { op, default, .. }) => self
                .decoding
                .with_default(default, |decoding| seed.deserialize(Deserializer { decoding, op: *op })),
            Some(Step::Skip { .. }) | None => Err(de::Error::custom("a value was asked for before its key")),
        }
    }
}

impl<'b> Fields<'_, 'b> {
    fn name(&self, at: u32) -> &'b str {
        let reader: &'b Schema = &self.decoding.plan.reader;
        let Kind::Record(record) = &reader[self.record.ty].kind else { return "" };
        &record.fields[at as usize].name
    }
}

struct BranchVariant<'d, 'b> {
    decoding: &'d mut Decoding<'b>,
    op: OpId,
    name: &'b str,
}

impl<'d, 'b> EnumAccess<'b> for BranchVariant<'d, 'b> {
    type Error = DecodeError;
    type Variant = Deserializer<'d, 'b>;

    fn variant_seed<S: DeserializeSeed<'b>>(self, seed: S) -> Result<(S::Value, Self::Variant), DecodeError> {
        let Self { decoding, op, name } = self;
        let variant = seed.deserialize(de::value::BorrowedStrDeserializer::new(name))?;
        Ok((variant, Deserializer { decoding, op }))
    }
}

impl<'b> VariantAccess<'b> for Deserializer<'_, 'b> {
    type Error = DecodeError;

    fn unit_variant(self) -> Result<(), DecodeError> {
        skip(self.decoding, self.op)
    }

    fn newtype_variant_seed<S: DeserializeSeed<'b>>(self, seed: S) -> Result<S::Value, DecodeError> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'b>>(self, _length: usize, visitor: V) -> Result<V::Value, DecodeError> {
        de::Deserializer::deserialize_any(self, visitor)
    }

    fn struct_variant<V: Visitor<'b>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        de::Deserializer::deserialize_any(self, visitor)
    }
}
