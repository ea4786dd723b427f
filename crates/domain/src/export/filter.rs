//! Which rows are wanted: conditions on columns, all of which must hold.
//!
//! Values are kept as text. What they mean, the type of their column says; no value ever becomes part of a statement.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use super::{COLUMN_BYTES_MAX, Errors, is_line};

/// The most columns that one export may filter by.
pub const FILTER_COLUMNS_MAX: usize = 32;
/// The most values of one `in`.
pub const FILTER_VALUES_MAX: usize = 1_000;
/// The longest value, in characters.
pub const FILTER_VALUE_CHARACTERS_MAX: usize = 1_000;

/// What a column may be filtered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operator {
    /// Equal to a value.
    Eq,
    /// Equal to one of several values.
    In,
    /// Within bounds.
    Range,
    /// NULL, or not.
    IsNull,
    /// A text that begins so.
    Prefix,
}

impl Operator {
    /// Every operator.
    pub const ALL: [Self; 5] = [Self::Eq, Self::In, Self::Range, Self::IsNull, Self::Prefix];

    /// The operator as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Eq => "eq",
            Self::In => "in",
            Self::Range => "range",
            Self::IsNull => "is_null",
            Self::Prefix => "prefix",
        }
    }

    /// The operator that is written so.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operator| operator.as_str() == text)
    }
}

/// Conditions by column.
pub type Filters = BTreeMap<String, Conditions>;

/// The conditions on one column, one an operator at the most.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conditions {
    /// The value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eq: Option<String>,
    /// The values, one at least.
    #[serde(default, rename = "in", skip_serializing_if = "Option::is_none")]
    pub one_of: Option<Vec<String>>,
    /// The bounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
    /// Whether the rows with NULL are wanted, or those without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_null: Option<bool>,
    /// The beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
}

/// Bounds: one below and one above at the most, one of them at least.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// The least, itself included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gte: Option<String>,
    /// The least, itself left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gt: Option<String>,
    /// The greatest, itself included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lte: Option<String>,
    /// The greatest, itself left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lt: Option<String>,
}

impl Range {
    /// The bounds that are given, by name.
    pub fn bounds(&self) -> Vec<(&'static str, &str)> {
        let bounds = [("gte", &self.gte), ("gt", &self.gt), ("lte", &self.lte), ("lt", &self.lt)];
        bounds.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?))).collect()
    }
}

impl Conditions {
    /// The operators that are used.
    pub fn operators(&self) -> Vec<Operator> {
        let used = [
            (Operator::Eq, self.eq.is_some()),
            (Operator::In, self.one_of.is_some()),
            (Operator::Range, self.range.is_some()),
            (Operator::IsNull, self.is_null.is_some()),
            (Operator::Prefix, self.prefix.is_some()),
        ];
        used.into_iter().filter(|(_, used)| *used).map(|(operator, _)| operator).collect()
    }
}

pub(super) fn filters(value: &Value, errors: &mut Errors) -> Filters {
    let Some(object) = value.as_object().filter(|object| object.len() <= FILTER_COLUMNS_MAX) else {
        let problem =
            format!("must be an object of at most {FILTER_COLUMNS_MAX} columns with their conditions");
        errors.add("filters", &problem);
        return Filters::new();
    };
    let mut filters = Filters::new();
    for (column, given) in object {
        let field = format!("filters.{column}");
        if !is_line(column, COLUMN_BYTES_MAX) {
            errors.add(&field, "must be the name of a column");
            continue;
        }
        match given.as_object().filter(|given| !given.is_empty()) {
            Some(given) => {
                let mut conditions = Conditions::default();
                for (operator, operand) in given {
                    condition(&mut conditions, &format!("{field}.{operator}"), operator, operand, errors);
                }
                filters.insert(column.clone(), conditions);
            }
            None => errors.add(&field, "must be an object of conditions, such as {\"eq\": \"paid\"}"),
        }
    }
    filters
}

fn condition(conditions: &mut Conditions, field: &str, operator: &str, operand: &Value, errors: &mut Errors) {
    let mut or_add =
        |field: &str, value: &Value| scalar(value).map_err(|problem| errors.add(field, problem)).ok();
    match Operator::parse(operator) {
        Some(Operator::Eq) => conditions.eq = or_add(field, operand),
        Some(Operator::Prefix) => conditions.prefix = or_add(field, operand),
        Some(Operator::IsNull) => match operand.as_bool() {
            Some(is_null) => conditions.is_null = Some(is_null),
            None => errors.add(field, "must be true or false"),
        },
        Some(Operator::In) => {
            match operand.as_array().filter(|values| (1..=FILTER_VALUES_MAX).contains(&values.len())) {
                Some(values) => {
                    let values = values.iter().enumerate();
                    let values = values.filter_map(|(n, value)| or_add(&format!("{field}[{n}]"), value));
                    conditions.one_of = Some(values.collect());
                }
                None => {
                    errors.add(field, &format!("must be an array of 1 to {FILTER_VALUES_MAX} values"));
                }
            }
        }
        Some(Operator::Range) => conditions.range = range(field, operand, errors),
        None => {
            let known: Vec<_> = Operator::ALL.iter().map(|operator| operator.as_str()).collect();
            errors.add(field, &format!("is no condition; there are {}", known.join(", ")));
        }
    }
}

fn range(field: &str, operand: &Value, errors: &mut Errors) -> Option<Range> {
    const SHAPE: &str = "must be an object with gte or gt, or lte or lt, or one of each";
    let Some(given) = operand.as_object() else {
        errors.add(field, SHAPE);
        return None;
    };
    let mut range = Range::default();
    for (bound, value) in given {
        let place = match bound.as_str() {
            "gte" => &mut range.gte,
            "gt" => &mut range.gt,
            "lte" => &mut range.lte,
            "lt" => &mut range.lt,
            _ => {
                errors.add(&format!("{field}.{bound}"), SHAPE);
                continue;
            }
        };
        match scalar(value) {
            Ok(text) => *place = Some(text),
            Err(problem) => errors.add(&format!("{field}.{bound}"), problem),
        }
    }
    let twice = given.contains_key("gte") && given.contains_key("gt")
        || given.contains_key("lte") && given.contains_key("lt");
    if twice || given.is_empty() {
        errors.add(field, SHAPE);
    }
    Some(range)
}

/// The first whole number that a 64-bit float cannot tell from its neighbour (2⁵³). Below it a number with a fraction of zero
/// or an exponent is read as itself, because what reads JSON here reads floats exactly (`float_roundtrip`).
const WHOLE_FLOAT_MAX: f64 = 9_007_199_254_740_992.0;

/// A value as text. JSON numbers with a fraction are refused, and large ones with an exponent: what reads JSON has rounded
/// them already. One such as `7.0` is a whole number, as JSON Schema has it.
fn scalar(value: &Value) -> Result<String, &'static str> {
    match value {
        Value::String(text) if text.chars().count() > FILTER_VALUE_CHARACTERS_MAX => {
            Err("is longer than a value may be")
        }
        Value::String(text) if text.contains('\0') => Err("holds U+0000, which no text of Postgres does"),
        Value::String(text) => Ok(text.clone()),
        Value::Bool(flag) => Ok(flag.to_string()),
        Value::Number(number) => {
            let whole = whole_number(number).map(|whole| whole.to_string());
            whole.ok_or("must be written as a string, \"0.1\", so that no digit is lost")
        }
        Value::Null => Err("must be a value; for NULL there is is_null"),
        Value::Array(_) | Value::Object(_) => Err("must be a string, a whole number, true or false"),
    }
}

/// A number as a whole one, however it is written; nothing where it is none, or may have been rounded.
pub fn whole_number(number: &Number) -> Option<Number> {
    if number.is_i64() || number.is_u64() {
        return Some(number.clone());
    }
    let float = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < WHOLE_FLOAT_MAX)?;
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and far within the bounds of i64")]
    Some((float as i64).into())
}
