//! One value, from the wire into the form that Parquet stores.

use bytes::BytesMut;
use parquet::data_type::ByteArray;

use super::column_type::{Decimal, ParquetType};
use crate::reading::Wire;
use crate::value::calendar::{self, DAY_MICROS, EPOCH_DAYS, EPOCH_MICROS, Style};
use crate::value::numeric::Numeric;
use crate::value::{self, Fault, fixed, inet};

const INFINITE: Fault = Fault::Unfit("an infinity is neither a date nor a time in Parquet");
const TOO_FAR: Fault = Fault::Unfit("it lies further away than microseconds in 64 bits since 1970 reach");

/// The values of a batch, in the physical type of their column.
#[derive(Debug)]
pub(super) enum Cells {
    Boolean(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Bytes(Arena),
    FixedBytes(Arena),
}

/// Byte arrays, one after the other in one buffer.
#[derive(Debug, Default)]
pub(super) struct Arena {
    bytes: BytesMut,
    ends: Vec<usize>,
}

impl Arena {
    fn end_value(&mut self) {
        self.ends.push(self.bytes.len());
    }

    /// Gives the values away; they share the buffer.
    pub(super) fn take(&mut self) -> impl Iterator<Item = ByteArray> {
        let bytes = self.bytes.split().freeze();
        let mut start = 0;
        self.ends
            .drain(..)
            .map(move |end| ByteArray::from(bytes.slice(std::mem::replace(&mut start, end)..end)))
    }
}

impl Cells {
    pub(super) fn new(parquet_type: ParquetType) -> Self {
        match parquet_type {
            ParquetType::Boolean => Self::Boolean(Vec::new()),
            ParquetType::Int16 | ParquetType::Int32 | ParquetType::Date => Self::Int32(Vec::new()),
            ParquetType::Int64 | ParquetType::Time | ParquetType::Timestamp { .. } => Self::Int64(Vec::new()),
            ParquetType::Float => Self::Float(Vec::new()),
            ParquetType::Double => Self::Double(Vec::new()),
            ParquetType::String | ParquetType::Json | ParquetType::Bytes => Self::Bytes(Arena::default()),
            ParquetType::Uuid => Self::FixedBytes(Arena::default()),
            ParquetType::Decimal(Decimal { precision, .. }) => match precision {
                0..=9 => Self::Int32(Vec::new()),
                10..=18 => Self::Int64(Vec::new()),
                _ => Self::FixedBytes(Arena::default()),
            },
        }
    }

    /// Appends a value that is not NULL.
    pub(super) fn push(&mut self, bytes: &[u8], wire: Wire, parquet_type: ParquetType) -> Result<(), Fault> {
        match self {
            Self::Boolean(values) => values.push(value::boolean(bytes)?),
            Self::Int32(values) => values.push(int32(bytes, wire, parquet_type)?),
            Self::Int64(values) => values.push(int64(bytes, wire, parquet_type)?),
            Self::Float(values) => values.push(f32::from_be_bytes(fixed(bytes)?)),
            Self::Double(values) => values.push(f64::from_be_bytes(fixed(bytes)?)),
            Self::Bytes(arena) => {
                byte_array(bytes, wire, &mut arena.bytes)?;
                arena.end_value();
            }
            Self::FixedBytes(arena) => {
                if let ParquetType::Decimal(decimal) = parquet_type {
                    let unscaled = unscaled(bytes, decimal)?.to_be_bytes();
                    arena.bytes.extend_from_slice(&unscaled[unscaled.len() - decimal.bytes()..]);
                } else {
                    arena.bytes.extend_from_slice(&fixed::<16>(bytes)?);
                }
                arena.end_value();
            }
        }
        Ok(())
    }
}

fn int32(bytes: &[u8], wire: Wire, parquet_type: ParquetType) -> Result<i32, Fault> {
    match (wire, parquet_type) {
        (Wire::Int2, _) => Ok(i32::from(i16::from_be_bytes(fixed(bytes)?))),
        (Wire::Date, _) => {
            let days = calendar::date(bytes)?.map_err(|_infinity| INFINITE)?;
            days.checked_add(EPOCH_DAYS).ok_or(Fault::Malformed("a date is none"))
        }
        (_, ParquetType::Decimal(decimal)) => narrowed(unscaled(bytes, decimal)?),
        _ => Ok(i32::from_be_bytes(fixed(bytes)?)),
    }
}

fn int64(bytes: &[u8], wire: Wire, parquet_type: ParquetType) -> Result<i64, Fault> {
    match (wire, parquet_type) {
        (Wire::Oid, _) => Ok(i64::from(u32::from_be_bytes(fixed(bytes)?))),
        (Wire::Time, _) => match calendar::time(bytes)? {
            DAY_MICROS => Err(Fault::Unfit("24:00:00 is no time of a day in Parquet")),
            micros => Ok(micros),
        },
        (Wire::Timestamp | Wire::TimestampTz, _) => {
            let micros = calendar::timestamp(bytes)?.map_err(|_infinity| INFINITE)?;
            micros.checked_add(EPOCH_MICROS).ok_or(TOO_FAR)
        }
        (_, ParquetType::Decimal(decimal)) => narrowed(unscaled(bytes, decimal)?),
        _ => Ok(i64::from_be_bytes(fixed(bytes)?)),
    }
}

fn unscaled(bytes: &[u8], decimal: Decimal) -> Result<i128, Fault> {
    let numeric = Numeric::read(bytes)?;
    let numeric =
        numeric.map_err(|_special| Fault::Unfit("a decimal is neither NaN nor infinite in Parquet"))?;
    numeric.unscaled(decimal.precision, decimal.scale)
}

/// The precision has bounded it.
fn narrowed<T: TryFrom<i128>>(unscaled: i128) -> Result<T, Fault> {
    T::try_from(unscaled).map_err(|_error| Fault::Malformed("a numeric is none"))
}

fn byte_array(bytes: &[u8], wire: Wire, out: &mut BytesMut) -> Result<(), Fault> {
    match wire {
        Wire::Jsonb => out.extend_from_slice(value::text(value::jsonb(bytes)?)?.as_bytes()),
        Wire::Char => {
            let mut buffer = [0; 4];
            let length = value::char_text(bytes, &mut buffer)?;
            out.extend_from_slice(&buffer[..length]);
        }
        Wire::TimeTz => {
            out.extend_from_slice(calendar::time_with_zone_text(bytes, Style::Iso8601)?.as_bytes());
        }
        Wire::Inet => {
            let mut text = String::new();
            inet::write(bytes, &mut text)?;
            out.extend_from_slice(text.as_bytes());
        }
        Wire::Text | Wire::Json => out.extend_from_slice(value::text(bytes)?.as_bytes()),
        Wire::Bytea => out.extend_from_slice(bytes),
        Wire::Bool
        | Wire::Int2
        | Wire::Int4
        | Wire::Int8
        | Wire::Oid
        | Wire::Float4
        | Wire::Float8
        | Wire::Numeric
        | Wire::Date
        | Wire::Time
        | Wire::Timestamp
        | Wire::TimestampTz
        | Wire::Uuid => return Err(Fault::Malformed("a value is not of its column's type")),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed(bytes: &[u8], wire: Wire, typmod: i32) -> Result<Cells, Fault> {
        let parquet_type = ParquetType::of(wire, typmod).expect("a type of Parquet");
        let mut cells = Cells::new(parquet_type);
        cells.push(bytes, wire, parquet_type).map(|()| cells)
    }

    fn int64(bytes: &[u8], wire: Wire) -> Result<i64, Fault> {
        let cells = pushed(bytes, wire, -1)?;
        if let Cells::Int64(values) = &cells { Ok(values[0]) } else { panic!("{cells:?}") }
    }

    #[test]
    fn a_time_that_the_file_cannot_hold_is_refused_and_its_neighbour_is_held() {
        let stamp = |micros: i64| int64(&micros.to_be_bytes(), Wire::TimestampTz);
        assert_eq!(stamp(0), Ok(EPOCH_MICROS));
        assert_eq!(stamp(i64::MAX - EPOCH_MICROS), Ok(i64::MAX));
        assert_eq!(stamp(i64::MAX - EPOCH_MICROS + 1), Err(TOO_FAR));
        assert_eq!([stamp(i64::MAX), stamp(i64::MIN)], [Err(INFINITE); 2]);
        let time = |micros: i64| int64(&micros.to_be_bytes(), Wire::Time);
        assert_eq!(time(DAY_MICROS - 1), Ok(DAY_MICROS - 1));
        assert!(matches!(time(DAY_MICROS), Err(Fault::Unfit(_))));
        assert!(matches!(time(-1), Err(Fault::Malformed(_))));
        assert_eq!(pushed(&i32::MAX.to_be_bytes(), Wire::Date, -1).err(), Some(INFINITE));
    }

    #[test]
    fn a_wide_decimal_has_the_bytes_of_its_precision_and_a_sign() {
        // numeric(20, 0) of -1: nine bytes, all ones.
        let minus_one = [0, 1, 0, 0, 0x40, 0, 0, 0, 0, 1];
        let mut cells = pushed(&minus_one, Wire::Numeric, (20 << 16) + 4).expect("it fits");
        let Cells::FixedBytes(arena) = &mut cells else { panic!("{cells:?}") };
        let values: Vec<_> = arena.take().collect();
        assert_eq!(values[0].data(), [0xff; 9]);
        let nan = [0, 0, 0, 0, 0xC0, 0, 0, 0];
        assert!(matches!(pushed(&nan, Wire::Numeric, (20 << 16) + 4), Err(Fault::Unfit(_))));
    }

    #[test]
    fn a_value_of_another_length_is_malformed_in_every_type() {
        for wire in [
            Wire::Bool,
            Wire::Int2,
            Wire::Int4,
            Wire::Int8,
            Wire::Oid,
            Wire::Float4,
            Wire::Float8,
            Wire::Date,
        ] {
            assert!(matches!(pushed(&[0; 3], wire, -1), Err(Fault::Malformed(_))), "{wire:?}");
        }
        for wire in
            [Wire::Time, Wire::TimeTz, Wire::Timestamp, Wire::Uuid, Wire::Inet, Wire::Jsonb, Wire::Char]
        {
            assert!(matches!(pushed(&[0; 3], wire, -1), Err(Fault::Malformed(_))), "{wire:?}");
        }
        assert!(matches!(pushed(b"\xff", Wire::Text, -1), Err(Fault::Unfit(_))));
    }
}
