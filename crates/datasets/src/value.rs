//! What a column may be filtered with, and whether a value is one of its type. Judged by the pinned type alone, so that
//! a value which Postgres would refuse is refused before there is an export.

use std::str::FromStr;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use waybill_domain::export::{Conditions, Operator};

use crate::pinned::PinnedColumn;

/// The most digits of a `numeric` before its point, and behind it (PostgreSQL, section 8.1.2).
const NUMERIC_DIGITS_MAX: usize = 131_072;
const NUMERIC_SCALE_MAX: usize = 16_383;

/// The longest `name` (PostgreSQL, section 8.3).
const NAME_BYTES_MAX: usize = 63;

/// A type as filters see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterType {
    /// `boolean`
    Bool,
    /// `smallint`, `integer`, `bigint`, `oid`, by their bounds.
    Integer(i64, i64),
    /// `numeric`
    Decimal,
    /// `real`
    Real,
    /// `double precision`
    Double,
    /// `text`, `varchar`, `char(n)`
    Text,
    /// `name`
    Name,
    /// `date`
    Date,
    /// `time`
    Time,
    /// `timestamp`
    Timestamp,
    /// `timestamp with time zone`
    TimestampTz,
    /// `uuid`
    Uuid,
    /// An enumeration.
    Enum,
}

impl FilterType {
    /// The type of a column. `None` where its values can be compared with none that a request could write.
    #[must_use]
    pub fn of(column: &PinnedColumn) -> Option<Self> {
        if column.element.is_some() {
            return None;
        }
        if column.kind == 'e' {
            return Some(Self::Enum);
        }
        Some(match column.oid {
            16 => Self::Bool,
            20 => Self::Integer(i64::MIN, i64::MAX),
            21 => Self::Integer(i16::MIN.into(), i16::MAX.into()),
            23 => Self::Integer(i32::MIN.into(), i32::MAX.into()),
            26 => Self::Integer(0, u32::MAX.into()),
            700 => Self::Real,
            701 => Self::Double,
            1700 => Self::Decimal,
            19 => Self::Name,
            25 | 1042 | 1043 => Self::Text,
            1082 => Self::Date,
            1083 => Self::Time,
            1114 => Self::Timestamp,
            1184 => Self::TimestampTz,
            2950 => Self::Uuid,
            _ => return None,
        })
    }
}

/// What a column of this type may be filtered with at all. Whether it is NULL can be asked of every type.
#[must_use]
pub fn operators(column: &PinnedColumn) -> &'static [Operator] {
    use Operator::{Eq, In, IsNull, Prefix, Range};
    match FilterType::of(column) {
        None => &[IsNull],
        Some(FilterType::Text | FilterType::Name) => &[Eq, In, Range, IsNull, Prefix],
        Some(FilterType::Bool | FilterType::Enum) => &[Eq, In, IsNull],
        Some(
            FilterType::Integer(..)
            | FilterType::Decimal
            | FilterType::Real
            | FilterType::Double
            | FilterType::Date
            | FilterType::Time
            | FilterType::Timestamp
            | FilterType::TimestampTz
            | FilterType::Uuid,
        ) => &[Eq, In, Range, IsNull],
    }
}

pub(crate) fn check_operators(
    field: &str,
    conditions: &Conditions,
    allowed: &[Operator],
    add: &mut impl FnMut(String, String),
) {
    for operator in conditions.operators().into_iter().filter(|operator| !allowed.contains(operator)) {
        let known: Vec<_> = allowed.iter().map(|operator| operator.as_str()).collect();
        add(
            format!("{field}.{}", operator.as_str()),
            format!("is not allowed on this column; {} is", known.join(", ")),
        );
    }
}

/// Whether the text is a value of the column's type, in the one way of writing it that is taken.
pub(crate) fn check_value(column: &PinnedColumn, text: &str) -> Result<(), String> {
    let Some(filter_type) = FilterType::of(column) else {
        return Err(format!("cannot be compared: {} values have no form here", column.type_name));
    };
    let expected = match filter_type {
        FilterType::Text => return Ok(()),
        // A longer one would be cut, and then match what nobody asked for.
        FilterType::Name if text.len() <= NAME_BYTES_MAX => return Ok(()),
        FilterType::Name => return Err(format!("must be a name of {NAME_BYTES_MAX} bytes at the most")),
        FilterType::Bool if matches!(text, "true" | "false") => return Ok(()),
        FilterType::Bool => "true or false",
        FilterType::Integer(min, max) => match text.parse::<i64>() {
            Ok(number) if (min..=max).contains(&number) && !text.starts_with('+') => return Ok(()),
            _ => return Err(format!("must be a whole number from {min} to {max}")),
        },
        FilterType::Decimal if is_decimal(text) => return Ok(()),
        FilterType::Real if is_decimal(text) && is_within::<f32>(text) => return Ok(()),
        FilterType::Double if is_decimal(text) && is_within::<f64>(text) => return Ok(()),
        FilterType::Real | FilterType::Double if is_decimal(text) => {
            return Err(format!("must lie within the range of {}", column.type_name));
        }
        FilterType::Decimal | FilterType::Real | FilterType::Double => "a decimal number such as \"-12.50\"",
        FilterType::Date if has_form(text, "0000-00-00") && text.parse::<Date>().is_ok() => return Ok(()),
        FilterType::Date => "a date such as \"2026-01-31\"",
        FilterType::Time if text.parse::<Time>().is_ok() && !text.contains(['T', 't']) => return Ok(()),
        FilterType::Time => "a time such as \"13:45:00\"",
        FilterType::Timestamp if has_form(text, "0000-00-00") && is_local(text) => return Ok(()),
        FilterType::Timestamp => "a time without a zone such as \"2026-01-31T13:45:00\"",
        FilterType::TimestampTz if has_form(text, "0000-00-00") && is_instant(text) => return Ok(()),
        FilterType::TimestampTz => "a time with its zone such as \"2026-01-31T13:45:00Z\"",
        FilterType::Uuid if has_form(text, "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh") && text.len() == 36 => {
            return Ok(());
        }
        FilterType::Uuid => "a UUID such as \"0195f5b0-c0de-7000-a000-000000000001\"",
        FilterType::Enum if column.labels.iter().any(|label| label == text) => return Ok(()),
        FilterType::Enum => return Err(format!("must be one of {}", column.labels.join(", "))),
    };
    Err(format!("must be {expected}"))
}

fn is_decimal(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let fits =
        |part: &str, max: usize| (1..=max).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    fits(whole, NUMERIC_DIGITS_MAX) && fits(fraction, NUMERIC_SCALE_MAX)
}

/// Whether a float of this width holds the number, if not exactly: Postgres refuses one that is too large for it, and one
/// that is so small that it would become 0.
fn is_within<F: FromStr + Into<f64>>(text: &str) -> bool {
    let is_zero = text.bytes().all(|byte| matches!(byte, b'-' | b'.' | b'0'));
    let number: Option<f64> = text.parse::<F>().ok().map(Into::into);
    number.is_some_and(|number| number.is_finite() && (is_zero || number != 0.0))
}

/// What jiff takes besides, such as a zone's name in brackets, Postgres does not.
fn is_local(text: &str) -> bool {
    text.parse::<DateTime>().is_ok() && text.bytes().all(|b| b.is_ascii_digit() || b"-:.T ".contains(&b))
}

fn is_instant(text: &str) -> bool {
    text.parse::<Timestamp>().is_ok() && text.bytes().all(|b| b.is_ascii_digit() || b"-:.T +Z".contains(&b))
}

/// Whether the text begins like the form, in which `0` stands for a digit and `h` for one of hexadecimal.
fn has_form(text: &str, form: &str) -> bool {
    text.len() >= form.len()
        && text.bytes().zip(form.bytes()).all(|(byte, like)| match like {
            b'0' => byte.is_ascii_digit(),
            b'h' => byte.is_ascii_hexdigit(),
            like => byte == like,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(oid: u32) -> PinnedColumn {
        PinnedColumn {
            name: "c".into(),
            type_name: "t".into(),
            cast_name: "t".into(),
            oid,
            kind: 'b',
            typmod: -1,
            element: None,
            labels: Vec::new(),
        }
    }

    #[test]
    fn a_value_is_written_in_one_way_for_each_type() {
        let cases: [(u32, &[&str], &[&str]); 9] = [
            (16, &["true", "false"], &["yes", "t", "TRUE", ""]),
            (21, &["-32768", "32767"], &["32768", "1.0", "+1", "", " 1", "1e2"]),
            (20, &["-9223372036854775808"], &["9223372036854775808"]),
            (1700, &["0", "-12.50", "00.1"], &["1e5", "NaN", ".5", "5.", "--1", "", "1,5"]),
            (1082, &["2026-01-31"], &["2026-02-30", "2026-1-31", "31.01.2026", "today", "infinity"]),
            (1114, &["2026-01-31T13:45:00", "2026-01-31 13:45"], &["2026-01-31T13:45:00Z", "now"]),
            (
                1184,
                &["2026-01-31T13:45:00Z", "2026-01-31 13:45:00.5+09:00"],
                &["2026-01-31T13:45:00", "2026-01-31T13:45:00Z[UTC]"],
            ),
            (
                2950,
                &["0195f5b0-c0de-7000-A000-000000000001"],
                &["0195f5b0c0de7000a000000000000001", "0195f5b0-c0de-7000-a000-00000000000g"],
            ),
            (25, &["", "'; DROP TABLE x; --"], &[]),
        ];
        for (oid, right, wrong) in cases {
            for text in right {
                assert_eq!(check_value(&column(oid), text), Ok(()), "{oid} {text:?}");
            }
            for text in wrong {
                assert!(check_value(&column(oid), text).is_err(), "{oid} {text:?}");
            }
        }
    }

    #[test]
    fn a_value_that_its_type_would_change_or_refuse_is_refused_here() {
        let [many, few] = ["9".repeat(400), format!("0.{}1", "0".repeat(400))];
        for (oid, text, right) in [
            (700, "340282350000000000000000000000000000000", true),
            (700, "340282360000000000000000000000000000000", false),
            (701, "340282360000000000000000000000000000000", true),
            (701, many.as_str(), false),
            (701, few.as_str(), false),
            (700, "-0.000", true),
            (1700, many.as_str(), true),
            (1700, few.as_str(), true),
            (19, &many[..63], true),
            (19, &many[..64], false),
            (25, many.as_str(), true),
        ] {
            assert_eq!(check_value(&column(oid), text).is_ok(), right, "{oid} {text}");
        }
    }

    #[test]
    fn an_enumeration_has_its_labels_and_no_order_that_could_be_asked_for() {
        let mood =
            PinnedColumn { kind: 'e', oid: 20_000, labels: vec!["glad".into(), "sad".into()], ..column(0) };
        assert_eq!(check_value(&mood, "sad"), Ok(()));
        assert_eq!(check_value(&mood, "mad"), Err("must be one of glad, sad".to_owned()));
        assert!(!operators(&mood).contains(&Operator::Range));
        assert_eq!(operators(&column(3802)), [Operator::IsNull]);
    }
}
