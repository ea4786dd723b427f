//! A condition of the kind that a request may ask for, so that the planner can be asked about it.

use waybill_datasets::{FilterType, PinnedColumn};
use waybill_domain::export::{Conditions, Operator, Range};

/// A condition by this operator with a value that the column's type has. `None` where there is none.
pub(crate) fn condition(column: &PinnedColumn, operator: Operator) -> Option<Conditions> {
    let none = Conditions::default();
    if operator == Operator::IsNull {
        return Some(Conditions { is_null: Some(true), ..none });
    }
    let value = match FilterType::of(column)? {
        FilterType::Bool => "true",
        FilterType::Integer(..) | FilterType::Decimal | FilterType::Real | FilterType::Double => "1",
        FilterType::Text | FilterType::Name => "a",
        FilterType::Date => "2026-01-31",
        FilterType::Time => "12:00:00",
        FilterType::Timestamp => "2026-01-31T12:00:00",
        FilterType::TimestampTz => "2026-01-31T12:00:00Z",
        FilterType::Uuid => "0195f5b0-c0de-7000-a000-000000000001",
        FilterType::Enum => column.labels.first()?,
    };
    let value = value.to_owned();
    Some(match operator {
        Operator::Eq => Conditions { eq: Some(value), ..none },
        Operator::In => Conditions { one_of: Some(vec![value]), ..none },
        Operator::Range => Conditions { range: Some(Range { gte: Some(value), ..Range::default() }), ..none },
        Operator::Prefix => Conditions { prefix: Some(value), ..none },
        Operator::IsNull => return None,
    })
}
