//! Bytes become a [`Value`], in one pass over a plan.

use crate::decode_error::DecodeError;
use crate::default_bytes::Default;
use crate::plan::{
    BYTELESS_ITEMS_MAX, DEFAULTS_BYTES_MAX, Inner, Items, Op, OpId, RecordOp, Step, VALUE_DEPTH_MAX,
};
use crate::value::Value;
use crate::wire::Input;

/// What each value of a default counts for beside its bytes.
const VALUE_BYTES: usize = 32;

/// Some items of an array or a map that come together; the last block has none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    pub(crate) count: usize,
    /// Where it says that it ends, if it does.
    end: Option<usize>,
}

/// One value that is being decoded.
pub(crate) struct Decoding<'b> {
    pub(crate) plan: &'b Inner,
    pub(crate) input: Input<'b>,
    depth: usize,
    byteless_left: usize,
    defaults_left: usize,
}

impl<'b> Decoding<'b> {
    pub(crate) fn new(plan: &'b Inner, input: Input<'b>) -> Self {
        Self { plan, input, depth: 0, byteless_left: BYTELESS_ITEMS_MAX, defaults_left: DEFAULTS_BYTES_MAX }
    }

    /// To be called before what lies in an array, a map or a record, and [`leave`](Self::leave) after it.
    #[inline]
    pub(crate) fn enter(&mut self) -> Result<(), DecodeError> {
        self.depth += 1;
        if self.depth > VALUE_DEPTH_MAX {
            return Err(DecodeError::TooDeep { at: self.input.position(), max: VALUE_DEPTH_MAX });
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// The next block: of no more items than the bytes that are left can hold.
    #[inline]
    pub(crate) fn block(&mut self, bytes_min: usize) -> Result<Block, DecodeError> {
        let at = self.input.position();
        let (count, size) = self.input.block()?;
        self.check_block(at, count, size, bytes_min)?;
        Ok(Block { count, end: size.map(|size| self.input.position() + size) })
    }

    /// To be called after a block's items: they end where its size says that they do.
    #[inline]
    pub(crate) fn end_block(&self, block: Block) -> Result<(), DecodeError> {
        let at = self.input.position();
        match block.end {
            Some(end) if end != at => {
                Err(DecodeError::InvalidBlock { at, count: i64::try_from(block.count).unwrap_or(i64::MAX) })
            }
            _ => Ok(()),
        }
    }

    fn check_block(
        &mut self,
        at: usize,
        count: usize,
        size: Option<usize>,
        bytes_min: usize,
    ) -> Result<(), DecodeError> {
        if bytes_min == 0 {
            self.byteless_left = self.byteless_left.checked_sub(count).ok_or(DecodeError::TooLarge {
                at,
                what: "more than 100,000 items without a byte of their own",
            })?;
        } else if count > size.unwrap_or_else(|| self.input.left()) / bytes_min {
            return Err(DecodeError::InvalidBlock { at, count: i64::try_from(count).unwrap_or(i64::MAX) });
        }
        Ok(())
    }

    /// The operation of the branch that comes.
    #[inline]
    pub(crate) fn branch(&mut self, branches: &[OpId]) -> Result<OpId, DecodeError> {
        let at = self.input.position();
        let index = self.input.long()?;
        let branch = usize::try_from(index).ok().and_then(|index| branches.get(index));
        branch.copied().ok_or(DecodeError::UnknownBranch { at, index })
    }

    /// The reader's symbol for the one that comes.
    #[inline]
    pub(crate) fn symbol(&mut self, symbols: &[Option<u32>]) -> Result<u32, DecodeError> {
        let at = self.input.position();
        let index = self.input.long()?;
        let symbol = usize::try_from(index).ok().and_then(|index| symbols.get(index));
        let symbol = symbol.ok_or(DecodeError::UnknownSymbol { at, index })?;
        symbol.ok_or_else(|| DecodeError::Unreadable {
            at,
            why: format!("symbol {index} of the writer's enum is none of the reader's").into(),
        })
    }

    pub(crate) fn unreadable(&self, why: &str) -> DecodeError {
        DecodeError::Unreadable { at: self.input.position(), why: why.into() }
    }

    /// Does something with other bytes instead: a default's.
    pub(crate) fn with_default<T>(
        &mut self,
        default: &'b Default,
        work: impl FnOnce(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        let at = self.input.position();
        self.defaults_left = self
            .defaults_left
            .checked_sub(default.bytes.len() + default.values * VALUE_BYTES)
            .ok_or(DecodeError::TooLarge { at, what: "defaults of more than 64 MiB" })?;
        let input = std::mem::replace(&mut self.input, Input::new(&default.bytes));
        let outcome = work(self)?;
        self.input = input;
        Ok(outcome)
    }
}

/// The value that comes next.
pub(crate) fn value(decoding: &mut Decoding<'_>, op: OpId) -> Result<Value, DecodeError> {
    let plan = decoding.plan;
    let input = &mut decoding.input;
    Ok(match plan.op(op) {
        Op::Null => Value::Null,
        Op::Boolean => Value::Boolean(input.boolean()?),
        Op::Int => Value::Int(input.int()?),
        Op::Long => Value::Long(input.long()?),
        Op::Float => Value::Float(input.float()?),
        Op::Double => Value::Double(input.double()?),
        Op::Bytes => Value::Bytes(input.sized()?.to_vec()),
        Op::String | Op::BytesAsString => Value::String(input.text()?.to_owned()),
        Op::Fixed { ty, size } => Value::Fixed(*ty, input.take(*size)?.to_vec()),
        Op::IntAsLong => Value::Long(input.int()?.into()),
        Op::IntAsFloat => Value::Float(input.int()? as f32),
        Op::IntAsDouble => Value::Double(input.int()?.into()),
        Op::LongAsFloat => Value::Float(input.long()? as f32),
        Op::LongAsDouble => Value::Double(input.long()? as f64),
        Op::FloatAsDouble => Value::Double(input.float()?.into()),
        Op::Enum { ty, symbols } => Value::Enum(*ty, decoding.symbol(symbols)?),
        Op::Array(items) => array(decoding, *items)?,
        Op::Map(values) => map(decoding, *values)?,
        Op::Record(record) => fields(decoding, record)?,
        Op::Union(branches) => {
            let branch = decoding.branch(branches)?;
            value(decoding, branch)?
        }
        Op::Branch { op, .. } => value(decoding, *op)?,
        Op::Unreadable(why) => return Err(decoding.unreadable(why)),
    })
}

fn array(decoding: &mut Decoding<'_>, items: Items) -> Result<Value, DecodeError> {
    decoding.enter()?;
    let mut values = Vec::new();
    loop {
        let block = decoding.block(items.bytes_min)?;
        if block.count == 0 {
            decoding.leave();
            return Ok(Value::Array(values));
        }
        values.reserve(block.count);
        for _ in 0..block.count {
            values.push(value(decoding, items.op)?);
        }
        decoding.end_block(block)?;
    }
}

fn map(decoding: &mut Decoding<'_>, of: Items) -> Result<Value, DecodeError> {
    decoding.enter()?;
    let mut values = Vec::new();
    loop {
        // A key has at least its length.
        let block = decoding.block(of.bytes_min + 1)?;
        if block.count == 0 {
            decoding.leave();
            return Ok(Value::Map(values));
        }
        values.reserve(block.count);
        for _ in 0..block.count {
            let key = decoding.input.text()?.to_owned();
            values.push((key, value(decoding, of.op)?));
        }
        decoding.end_block(block)?;
    }
}

fn fields<'b>(decoding: &mut Decoding<'b>, record: &'b RecordOp) -> Result<Value, DecodeError> {
    decoding.enter()?;
    let mut values = Vec::with_capacity(record.fields);
    if !record.in_order {
        values.resize(record.fields, Value::Null);
    }
    for step in &record.steps {
        let (at, value) = match step {
            Step::Field { at, op } => (at, value(decoding, *op)?),
            Step::Default { at, op, default } => {
                (at, decoding.with_default(default, |decoding| value(decoding, *op))?)
            }
            Step::Skip { op } => {
                skip(decoding, *op)?;
                continue;
            }
        };
        if record.in_order {
            values.push(value);
        } else {
            values[*at as usize] = value;
        }
    }
    decoding.leave();
    Ok(Value::Record(record.ty, values))
}

/// Passes over the value that comes next.
pub(crate) fn skip(decoding: &mut Decoding<'_>, op: OpId) -> Result<(), DecodeError> {
    let input = &mut decoding.input;
    match decoding.plan.op(op) {
        Op::Null => {}
        Op::Boolean => {
            input.boolean()?;
        }
        Op::Int | Op::IntAsLong | Op::IntAsFloat | Op::IntAsDouble => {
            input.int()?;
        }
        Op::Long | Op::LongAsFloat | Op::LongAsDouble => {
            input.long()?;
        }
        Op::Float | Op::FloatAsDouble => {
            input.float()?;
        }
        Op::Double => {
            input.double()?;
        }
        Op::Bytes | Op::String | Op::BytesAsString => {
            input.sized()?;
        }
        Op::Fixed { size, .. } => {
            input.take(*size)?;
        }
        Op::Enum { symbols, .. } => {
            decoding.symbol(symbols)?;
        }
        Op::Array(items) => skip_blocks(decoding, items.bytes_min, |decoding| skip(decoding, items.op))?,
        Op::Map(values) => skip_blocks(decoding, values.bytes_min + 1, |decoding| {
            decoding.input.sized()?;
            skip(decoding, values.op)
        })?,
        Op::Record(record) => {
            decoding.enter()?;
            for step in &record.steps {
                if let Step::Field { op, .. } | Step::Skip { op } = step {
                    skip(decoding, *op)?;
                }
            }
            decoding.leave();
        }
        Op::Union(branches) => {
            let branch = decoding.branch(branches)?;
            skip(decoding, branch)?;
        }
        Op::Branch { op, .. } => skip(decoding, *op)?,
        Op::Unreadable(why) => return Err(decoding.unreadable(why)),
    }
    Ok(())
}

fn skip_blocks(
    decoding: &mut Decoding<'_>,
    bytes_min: usize,
    mut item: impl FnMut(&mut Decoding<'_>) -> Result<(), DecodeError>,
) -> Result<(), DecodeError> {
    decoding.enter()?;
    loop {
        let at = decoding.input.position();
        match decoding.input.block()? {
            (0, None) => {
                decoding.leave();
                return Ok(());
            }
            // That is what its size is written for.
            (_, Some(size)) => {
                decoding.input.take(size)?;
            }
            (count, None) => {
                decoding.check_block(at, count, None, bytes_min)?;
                for _ in 0..count {
                    item(decoding)?;
                }
            }
        }
    }
}
