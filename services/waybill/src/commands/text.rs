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

/// A path with these parameters, whose values may be any text.
pub(super) fn address(path: &str, parameters: &[(&str, &str)]) -> String {
    let mut address = path.to_owned();
    for (index, (name, value)) in parameters.iter().enumerate() {
        address.push(if index == 0 { '?' } else { '&' });
        address.push_str(name);
        address.push('=');
        for byte in value.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                    address.push(char::from(byte));
                }
                other => address.push_str(&format!("%{other:02X}")),
            }
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn a_parameter_may_be_any_text() {
        assert_eq!(address("/v1/a", &[]), "/v1/a");
        assert_eq!(address("/v1/a", &[("b", "x.y"), ("c", "1&ü")]), "/v1/a?b=x.y&c=1%26%C3%BC");
    }
}
