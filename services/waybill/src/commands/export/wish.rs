//! What of an export's request can be typed: conditions and options.

use serde_json::{Map, Value, json};

/// A condition on a column, as it is typed: `status=paid`, `total>=10`, `name^=Ada`, `paid_at is null`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Condition {
    column: String,
    test: Test,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Test {
    Equal(String),
    Bound(&'static str, String),
    Prefix(String),
    Null(bool),
}

/// Longer signs first: `>=` begins like `>`.
const BOUNDS: [(&str, &str); 4] = [(">=", "gte"), ("<=", "lte"), (">", "gt"), ("<", "lt")];

const EXPECTED: &str = "expected COLUMN=VALUE, COLUMN>=VALUE (or >, <=, <), COLUMN^=BEGINNING, 'COLUMN is null' or \
    'COLUMN is not null'";

/// Reads a condition.
pub(super) fn condition(typed: &str) -> Result<Condition, &'static str> {
    let of = |column: &str, test| Ok(Condition { column: column.trim().to_owned(), test });
    for (ending, is_null) in [(" is not null", false), (" is null", true)] {
        if let Some(column) = typed.strip_suffix(ending) {
            return of(column, Test::Null(is_null));
        }
    }
    let sign = typed.find(['=', '<', '>', '^']).filter(|at| *at > 0).ok_or(EXPECTED)?;
    let (column, rest) = typed.split_at(sign);
    for (sign, bound) in BOUNDS {
        if let Some(value) = rest.strip_prefix(sign) {
            return of(column, Test::Bound(bound, value.to_owned()));
        }
    }
    match (rest.strip_prefix("^="), rest.strip_prefix('=')) {
        (Some(value), _) => of(column, Test::Prefix(value.to_owned())),
        (None, Some(value)) => of(column, Test::Equal(value.to_owned())),
        (None, None) => Err(EXPECTED),
    }
}

/// All conditions as the api wants them. Several values of one column mean any of them.
pub(super) fn filters(conditions: Vec<Condition>) -> Option<Value> {
    let mut filters = Map::new();
    for Condition { column, test } in conditions {
        let of_column = filters.entry(column).or_insert_with(|| json!({}));
        match test {
            Test::Prefix(value) => of_column["prefix"] = value.into(),
            Test::Null(is_null) => of_column["is_null"] = is_null.into(),
            Test::Bound(bound, value) => of_column["range"][bound] = value.into(),
            Test::Equal(value) => match (of_column["eq"].take(), of_column["in"].as_array_mut()) {
                (Value::Null, Some(values)) => values.push(value.into()),
                (Value::Null, None) => of_column["eq"] = value.into(),
                (first, _) => of_column["in"] = json!([first, value]),
            },
        }
        if let Some(members) = of_column.as_object_mut() {
            members.retain(|_, member| !member.is_null());
        }
    }
    (!filters.is_empty()).then_some(Value::Object(filters))
}

/// An option of the format, as it is typed: `header=false`, `delimiter=;`.
pub(super) fn option(typed: &str) -> Result<(String, Value), &'static str> {
    let (name, value) = typed.split_once('=').ok_or("expected OPTION=VALUE")?;
    let value = match value {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        text => Value::String(text.replace("\\t", "\t")),
    };
    Ok((name.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(conditions: &[&str]) -> Value {
        filters(conditions.iter().map(|typed| condition(typed).unwrap()).collect()).unwrap()
    }

    #[test]
    fn a_condition_is_typed_as_it_is_thought() {
        assert_eq!(typed(&["status=paid"]), json!({ "status": { "eq": "paid" } }));
        assert_eq!(typed(&["note=a=b"]), json!({ "note": { "eq": "a=b" } }));
        assert_eq!(typed(&["name^=Ada"]), json!({ "name": { "prefix": "Ada" } }));
        assert_eq!(typed(&["paid_at is null"]), json!({ "paid_at": { "is_null": true } }));
        assert_eq!(typed(&["paid_at is not null"]), json!({ "paid_at": { "is_null": false } }));
        assert_eq!(
            typed(&["total>=10", "total<20"]),
            json!({ "total": { "range": { "gte": "10", "lt": "20" } } })
        );
    }

    #[test]
    fn several_values_of_a_column_mean_any_of_them() {
        assert_eq!(typed(&["s=a", "s=b", "s=c"]), json!({ "s": { "in": ["a", "b", "c"] } }));
    }

    #[test]
    fn what_is_no_condition_is_refused_with_what_is_one() {
        for wrong in ["status", "=paid", "", "status^paid"] {
            assert!(condition(wrong).is_err_and(|expected| expected.contains("COLUMN=VALUE")), "{wrong}");
        }
    }

    #[test]
    fn an_option_is_a_flag_or_a_text() {
        assert_eq!(option("header=false"), Ok(("header".to_owned(), json!(false))));
        assert_eq!(option("delimiter=;"), Ok(("delimiter".to_owned(), json!(";"))));
        assert_eq!(option("delimiter=\\t"), Ok(("delimiter".to_owned(), json!("\t"))));
    }
}
