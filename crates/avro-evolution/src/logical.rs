//! What a type's values mean beyond their encoding (Avro 1.12.0, "Logical Types").
//!
//! A logical type that is unknown, or not valid for its type, is no error: it is ignored, and the attributes stay.
//! Which ones are valid is as Avro's Java library decides. Deliberately absent: any conversion of values.

use crate::json::Json;
use crate::schema::{Kind, Primitive, Type};

/// A logical type that is valid for the type that carries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogicalType {
    /// An unscaled number of at most `precision` digits, of which `scale` come after the point.
    Decimal {
        /// All digits.
        precision: u32,
        /// Those after the point.
        scale: u32,
    },
    /// A number that brings its own scale.
    BigDecimal,
    /// A UUID.
    Uuid,
    /// Days since 1970-01-01.
    Date,
    /// Milliseconds after midnight.
    TimeMillis,
    /// Microseconds after midnight.
    TimeMicros,
    /// Milliseconds since 1970-01-01T00:00:00Z.
    TimestampMillis,
    /// Microseconds since then.
    TimestampMicros,
    /// Nanoseconds since then.
    TimestampNanos,
    /// Milliseconds since 1970-01-01T00:00:00 in a time zone that is not said.
    LocalTimestampMillis,
    /// Microseconds since then.
    LocalTimestampMicros,
    /// Nanoseconds since then.
    LocalTimestampNanos,
    /// Months, days and milliseconds.
    Duration,
}

/// Attributes for Java's own use; beside them a logical type is not valid.
const JAVA_PROPERTIES: [&str; 4] = ["avro.java.string", "java-class", "java-key-class", "java-element-class"];

impl LogicalType {
    /// What the type's attributes say, where that is valid for it.
    pub(crate) fn of(ty: &Type) -> Option<Self> {
        let name = ty.property("logicalType")?.as_str()?;
        if JAVA_PROPERTIES.iter().any(|property| ty.property(property).and_then(Json::as_str).is_some()) {
            return None;
        }
        let found = match name {
            "decimal" => return decimal(ty),
            "big-decimal" => Self::BigDecimal,
            "uuid" => Self::Uuid,
            "date" => Self::Date,
            "time-millis" => Self::TimeMillis,
            "time-micros" => Self::TimeMicros,
            "timestamp-millis" => Self::TimestampMillis,
            "timestamp-micros" => Self::TimestampMicros,
            "timestamp-nanos" => Self::TimestampNanos,
            "local-timestamp-millis" => Self::LocalTimestampMillis,
            "local-timestamp-micros" => Self::LocalTimestampMicros,
            "local-timestamp-nanos" => Self::LocalTimestampNanos,
            "duration" => Self::Duration,
            _ => return None,
        };
        found.fits(&ty.kind).then_some(found)
    }

    fn fits(self, kind: &Kind) -> bool {
        match self {
            Self::Decimal { .. } => matches!(kind, Kind::Primitive(Primitive::Bytes) | Kind::Fixed(_)),
            Self::BigDecimal => matches!(kind, Kind::Primitive(Primitive::Bytes)),
            Self::Uuid => {
                let in_bytes = matches!(kind, Kind::Fixed(fixed) if fixed.size == 16);
                in_bytes || matches!(kind, Kind::Primitive(Primitive::String))
            }
            Self::Date | Self::TimeMillis => matches!(kind, Kind::Primitive(Primitive::Int)),
            Self::TimeMicros
            | Self::TimestampMillis
            | Self::TimestampMicros
            | Self::TimestampNanos
            | Self::LocalTimestampMillis
            | Self::LocalTimestampMicros
            | Self::LocalTimestampNanos => matches!(kind, Kind::Primitive(Primitive::Long)),
            Self::Duration => matches!(kind, Kind::Fixed(fixed) if fixed.size == 12),
        }
    }

    /// As a schema writes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Decimal { .. } => "decimal",
            Self::BigDecimal => "big-decimal",
            Self::Uuid => "uuid",
            Self::Date => "date",
            Self::TimeMillis => "time-millis",
            Self::TimeMicros => "time-micros",
            Self::TimestampMillis => "timestamp-millis",
            Self::TimestampMicros => "timestamp-micros",
            Self::TimestampNanos => "timestamp-nanos",
            Self::LocalTimestampMillis => "local-timestamp-millis",
            Self::LocalTimestampMicros => "local-timestamp-micros",
            Self::LocalTimestampNanos => "local-timestamp-nanos",
            Self::Duration => "duration",
        }
    }
}

fn decimal(ty: &Type) -> Option<LogicalType> {
    // As Java's `int`: a larger number is no precision and no scale.
    let number = |name: &str| {
        let Json::Integer(value) = ty.property(name)? else { return None };
        i32::try_from(*value).ok().and_then(|value| u32::try_from(value).ok())
    };
    let precision = number("precision").filter(|&precision| precision > 0)?;
    let scale = if ty.property("scale").is_some() { number("scale")? } else { 0 };
    let most = match &ty.kind {
        Kind::Primitive(Primitive::Bytes) => f64::from(i32::MAX),
        // As many digits as the largest number has that those bits hold. Java counts the bits as an `int`, too.
        Kind::Fixed(fixed) => {
            let bits = (fixed.size as i32).wrapping_mul(8).wrapping_sub(1);
            (2_f64.log10() * f64::from(bits)).floor()
        }
        Kind::Primitive(_)
        | Kind::Array(_)
        | Kind::Map(_)
        | Kind::Union(_)
        | Kind::Record(_)
        | Kind::Enum(_) => {
            return None;
        }
    };
    (f64::from(precision) <= most && scale <= precision).then_some(LogicalType::Decimal { precision, scale })
}
