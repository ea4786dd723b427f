//! The api's answers as text.

use serde_json::Value;

/// A value without the quotes of JSON; `-` for none.
pub(super) fn of(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(of).collect::<Vec<_>>().join(","),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

/// These members of an object, in this order.
pub(super) fn row(object: &Value, members: &[&str]) -> Vec<String> {
    members.iter().map(|member| of(&object[*member])).collect()
}
