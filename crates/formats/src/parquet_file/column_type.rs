//! What each value is in a Parquet file.

use std::fmt;

use crate::plan::Unfit;
use crate::reading::Wire;

/// The most digits of a decimal that common readers take for one: those of 128 bits.
pub(crate) const DECIMAL_DIGITS_MAX: u16 = 38;

/// The type of a column, or of a list's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParquetType {
    Boolean,
    Int16,
    Int32,
    Int64,
    Float,
    Double,
    Decimal(Decimal),
    String,
    Json,
    Bytes,
    Date,
    Time,
    Timestamp { utc: bool },
    Uuid,
}

/// How many digits a decimal has, and how many of them stand behind the point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decimal {
    pub(crate) precision: u8,
    pub(crate) scale: u8,
}

impl ParquetType {
    /// What a value on the wire becomes, with the type modifier that says how long a `numeric` may be.
    pub(crate) fn of(wire: Wire, typmod: i32) -> Result<Self, Unfit> {
        Ok(match wire {
            Wire::Bool => Self::Boolean,
            Wire::Int2 => Self::Int16,
            Wire::Int4 => Self::Int32,
            // Unsigned 32 bits: fewer readers know them than 64 signed ones.
            Wire::Int8 | Wire::Oid => Self::Int64,
            Wire::Float4 => Self::Float,
            Wire::Float8 => Self::Double,
            Wire::Numeric => Self::Decimal(Decimal::of(typmod)?),
            Wire::Text | Wire::Char | Wire::TimeTz | Wire::Inet => Self::String,
            Wire::Json | Wire::Jsonb => Self::Json,
            Wire::Bytea => Self::Bytes,
            Wire::Date => Self::Date,
            Wire::Time => Self::Time,
            Wire::Timestamp => Self::Timestamp { utc: false },
            Wire::TimestampTz => Self::Timestamp { utc: true },
            Wire::Uuid => Self::Uuid,
        })
    }
}

impl Decimal {
    /// Reads the modifier of a `numeric` (PostgreSQL, `numeric.c`: precision in the upper 16 bits, scale in the lower 11, the
    /// scale signed, all of it plus 4).
    fn of(typmod: i32) -> Result<Self, Unfit> {
        if typmod < 4 {
            return Err(Unfit {
                why: "without precision and scale may have any number of digits, and a decimal of Parquet has a fixed one",
                instead: "cast it to numeric(precision, scale) in the data set's query, ask for the column as text, or \
                          choose NDJSON or CSV",
            });
        }
        let (upper, lower) = ((typmod - 4) >> 16, (typmod - 4) & 0x7ff);
        let scale = (lower ^ 0x400) - 0x400;
        // Parquet's scale is neither negative nor beyond the precision; the digits that this adds are zeros.
        let precision = if scale < 0 { upper - scale } else { upper.max(scale) };
        match (u8::try_from(precision), u8::try_from(scale.max(0))) {
            (Ok(precision), Ok(scale)) if u16::from(precision) <= DECIMAL_DIGITS_MAX => {
                Ok(Self { precision, scale })
            }
            _ => Err(Unfit {
                why: "has more digits than the 38 of a decimal that readers of Parquet take exactly",
                instead: "ask for the column as text, or choose NDJSON or CSV",
            }),
        }
    }

    /// The bytes of a decimal of more than 18 digits (Parquet's LogicalTypes, DECIMAL: the fewest that hold it).
    pub(crate) fn bytes(self) -> usize {
        let largest = 10_i128.pow(u32::from(self.precision)) - 1;
        // One bit more, for the sign.
        (128 - largest.leading_zeros() as usize + 1).div_ceil(8)
    }
}

impl fmt::Display for ParquetType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean => f.write_str("BOOLEAN"),
            Self::Int16 => f.write_str("INT32, INT(16)"),
            Self::Int32 => f.write_str("INT32, INT(32)"),
            Self::Int64 => f.write_str("INT64, INT(64)"),
            Self::Float => f.write_str("FLOAT"),
            Self::Double => f.write_str("DOUBLE"),
            Self::Decimal(Decimal { precision, scale }) => {
                let physical = match precision {
                    0..=9 => "INT32",
                    10..=18 => "INT64",
                    _ => "FIXED_LEN_BYTE_ARRAY",
                };
                write!(f, "{physical}, DECIMAL({precision}, {scale})")
            }
            Self::String => f.write_str("BYTE_ARRAY, STRING"),
            Self::Json => f.write_str("BYTE_ARRAY, JSON"),
            Self::Bytes => f.write_str("BYTE_ARRAY"),
            Self::Date => f.write_str("INT32, DATE"),
            Self::Time => f.write_str("INT64, TIME(MICROS)"),
            Self::Timestamp { utc: true } => f.write_str("INT64, TIMESTAMP(MICROS, UTC)"),
            Self::Timestamp { utc: false } => f.write_str("INT64, TIMESTAMP(MICROS)"),
            Self::Uuid => f.write_str("FIXED_LEN_BYTE_ARRAY(16), UUID"),
        }
    }
}
