//! How a reader reads what a writer wrote, worked out once for both schemas.
//!
//! A plan is a list of operations that refer to one another, so that types that hold themselves are no trouble. What the reader
//! cannot read is an operation, too: a value that does not come that way is read all the same, as in Java.

use std::sync::Arc;

use crate::compile;
use crate::decode::{self, Decoding};
use crate::decode_error::DecodeError;
use crate::default_bytes::Default;
use crate::schema::{Schema, TypeId};
use crate::value::Value;
use crate::wire::Input;

/// How deep arrays, maps and records may lie in one another in a value.
pub const VALUE_DEPTH_MAX: usize = 256;

/// How many items without any byte of their own one value may have: their number is all that stands in the bytes.
pub const BYTELESS_ITEMS_MAX: usize = 100_000;

/// How many bytes the defaults of one value may add up to: in Avro's encoding, and 32 more for each value in them.
pub const DEFAULTS_BYTES_MAX: usize = 64 * 1024 * 1024;

/// How values of one writer's schema are read with one reader's schema. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Plan {
    inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) reader: Schema,
    pub(crate) ops: Vec<Op>,
    pub(crate) root: OpId,
}

/// Which operation of one plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OpId(pub(crate) u32);

/// What is done with the next bytes.
#[derive(Debug)]
pub(crate) enum Op {
    Null,
    Boolean,
    Int,
    Long,
    Float,
    Double,
    Bytes,
    String,
    /// Bytes that become a text. (A text that becomes bytes is read as bytes.)
    BytesAsString,
    Fixed {
        ty: TypeId,
        size: usize,
    },
    IntAsLong,
    IntAsFloat,
    IntAsDouble,
    LongAsFloat,
    LongAsDouble,
    FloatAsDouble,
    Enum {
        ty: TypeId,
        /// The reader's symbol for each of the writer's.
        symbols: Box<[Option<u32>]>,
    },
    Array(Items),
    Map(Items),
    Record(RecordOp),
    /// A branch of the writer's union comes, by its index.
    Union(Box<[OpId]>),
    /// What comes is that branch of the reader's union.
    Branch {
        union: TypeId,
        branch: u32,
        op: OpId,
    },
    /// The reader has no place for it.
    Unreadable(Box<str>),
}

/// What an array or a map holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Items {
    pub(crate) op: OpId,
    /// The least number of bytes of an item, so that a count can be held against what is left. Of a map, without its key.
    pub(crate) bytes_min: usize,
}

#[derive(Debug)]
pub(crate) struct RecordOp {
    pub(crate) ty: TypeId,
    /// In the writer's order, and then the defaults.
    pub(crate) steps: Box<[Step]>,
    /// How many fields the reader's record has.
    pub(crate) fields: usize,
    /// Whether each step gives the reader's next field: nothing is skipped, and all are in order.
    pub(crate) in_order: bool,
}

#[derive(Debug)]
pub(crate) enum Step {
    /// The reader's field at that place.
    Field { at: u32, op: OpId },
    /// Nobody wants it. The operation is that of the writer's own type.
    Skip { op: OpId },
    /// The reader's field at that place, from its default.
    Default { at: u32, op: OpId, default: Default },
}

impl Plan {
    /// Works out how to read. What does not fit is found here, and is an error only for a value that comes to it: see
    /// [`unreadable`](Self::unreadable).
    #[must_use]
    pub fn new(writer: &Schema, reader: &Schema) -> Self {
        let (ops, root) = compile::compile(writer, reader);
        Self { inner: Arc::new(Inner { reader: reader.clone(), ops, root }) }
    }

    /// The plan of a reader who has the writer's schema.
    #[must_use]
    pub fn of(schema: &Schema) -> Self {
        Self::new(schema, schema)
    }

    /// The schema that values are read with.
    #[must_use]
    pub fn reader(&self) -> &Schema {
        &self.inner.reader
    }

    /// Everything for which the reader's schema has no place, in no particular order. When there is nothing, every value of
    /// the writer's is read.
    #[must_use]
    pub fn unreadable(&self) -> Vec<&str> {
        fn why(op: &Op) -> Option<&str> {
            if let Op::Unreadable(why) = op { Some(why) } else { None }
        }
        self.inner.ops.iter().filter_map(why).collect()
    }

    /// The value of all of these bytes.
    ///
    /// # Errors
    /// When they are no value of the writer's schema, when something follows, when the reader has no place for the value, or
    /// when it would be deeper or larger than the bounds of this module.
    pub fn decode(&self, bytes: &[u8]) -> Result<Value, DecodeError> {
        let (value, read) = self.decode_first(bytes)?;
        all_of(bytes, read)?;
        Ok(value)
    }

    /// The value at the beginning of these bytes, and how many of them it takes.
    ///
    /// # Errors
    /// As [`decode`](Self::decode), except that something may follow.
    pub fn decode_first(&self, bytes: &[u8]) -> Result<(Value, usize), DecodeError> {
        let mut decoding = Decoding::new(&self.inner, Input::new(bytes));
        let value = decode::value(&mut decoding, self.inner.root)?;
        Ok((value, decoding.input.position()))
    }

    /// The same as whatever type deserialises from it: a record as a struct or a map, in the order in which the writer has its
    /// fields; a union with null as an option, and any other union as what its branch is, or as an enum whose variants have
    /// the branches' names.
    ///
    /// # Errors
    /// As [`decode`](Self::decode), and when the type refuses the value.
    pub fn deserialize<'b, T: serde::Deserialize<'b>>(&'b self, bytes: &'b [u8]) -> Result<T, DecodeError> {
        let mut decoding = Decoding::new(&self.inner, Input::new(bytes));
        let value = crate::deserializer::deserialize(&mut decoding, self.inner.root)?;
        all_of(bytes, decoding.input.position())?;
        Ok(value)
    }
}

fn all_of(bytes: &[u8], read: usize) -> Result<(), DecodeError> {
    let left = bytes.len() - read;
    if left == 0 { Ok(()) } else { Err(DecodeError::TrailingBytes { at: read, left }) }
}

impl Inner {
    pub(crate) fn op(&self, id: OpId) -> &Op {
        &self.ops[id.0 as usize]
    }
}
