//! A registry's lock: which id it gave to which version of which schema.
//!
//! The hash covers the schema's JSON without `doc`, with sorted keys and without white space. Avro's Parsing Canonical
//! Form would not do: it drops `logicalType`, `default` and `aliases`, so that a time could change its unit unseen.

use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lock {
    /// The registry that gave the ids.
    #[serde(rename = "registry")]
    pub(crate) _registry: String,
    #[serde(rename = "schema")]
    pub(crate) schemas: Vec<Locked>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Locked {
    pub(crate) subject: String,
    pub(crate) version: u32,
    pub(crate) id: u32,
    pub(crate) sha256: String,
}

/// SHA-256 of the schema's canonical form, in lower-case hexadecimal.
pub(crate) fn fingerprint(schema: &str) -> Result<String, serde_json::Error> {
    let mut canonical = String::new();
    write_canonical(&serde_json::from_str(schema)?, &mut canonical);
    Ok(format!("{:x}", Sha256::digest(canonical)))
}

fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(object) => {
            let mut members: Vec<_> = object.iter().filter(|(key, _)| *key != "doc").collect();
            members.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (n, (key, member)) in members.into_iter().enumerate() {
                if n > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                write_canonical(member, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                if n > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            out.push_str(&value.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_order_and_doc_do_not_change_the_fingerprint() {
        let one = fingerprint(r#"{"type": "record", "doc": "a", "name": "R", "fields": []}"#).unwrap();
        let other =
            fingerprint("{\"name\":\"R\",\n\"fields\":[],\"doc\":\"b\",\"type\":\"record\"}").unwrap();
        assert_eq!(one, other);
    }

    #[test]
    fn the_unit_of_a_time_and_a_default_change_the_fingerprint() {
        let micros = fingerprint(r#"{"type": "long", "logicalType": "timestamp-micros"}"#).unwrap();
        let millis = fingerprint(r#"{"type": "long", "logicalType": "timestamp-millis"}"#).unwrap();
        assert_ne!(micros, millis);
        let zero = fingerprint(r#"{"name": "a", "type": "long", "default": 0}"#).unwrap();
        let one = fingerprint(r#"{"name": "a", "type": "long", "default": 1}"#).unwrap();
        assert_ne!(zero, one);
    }
}
