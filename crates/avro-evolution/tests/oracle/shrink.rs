//! Making a pair of schemas smaller for as long as it shows the same.

use serde_json::{Value, json};

use crate::mutation::places;

/// The smallest texts that this finds for which `shows` holds; it holds for the given ones.
pub(crate) fn shrunk(mut texts: Vec<Value>, mut shows: impl FnMut(&[Value]) -> bool) -> Vec<Value> {
    'smaller: loop {
        for which in 0..texts.len() {
            for candidate in candidates(&texts[which]) {
                let mut smaller = texts.clone();
                smaller[which] = candidate;
                if shows(&smaller) {
                    texts = smaller;
                    continue 'smaller;
                }
            }
        }
        return texts;
    }
}

/// Every text that is one step smaller, the smallest first.
fn candidates(schema: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    for place in places(schema, &|_| true) {
        let Some(value) = schema.pointer(&place) else { continue };
        let mut with = |replacement: Value| {
            let mut candidate = schema.clone();
            if let Some(place) = candidate.pointer_mut(&place) {
                *place = replacement;
                found.push(candidate);
            }
        };
        match value {
            Value::Object(properties) => {
                for simpler in ["null", "int"] {
                    with(json!(simpler));
                }
                for part in ["type", "items", "values"].iter().filter_map(|name| properties.get(*name)) {
                    with(part.clone());
                }
                for name in properties.keys() {
                    let mut fewer = properties.clone();
                    fewer.shift_remove(name);
                    with(Value::Object(fewer));
                }
                let lists = properties.iter().filter_map(|(name, value)| Some((name, value.as_array()?)));
                for (name, list) in lists {
                    for at in 0..list.len() {
                        let mut fewer = (list.clone(), properties.clone());
                        fewer.0.remove(at);
                        fewer.1[name] = json!(fewer.0);
                        with(Value::Object(fewer.1));
                    }
                }
            }
            Value::Array(items) => {
                for at in 0..items.len() {
                    let mut fewer = items.clone();
                    fewer.remove(at);
                    with(json!(fewer));
                    with(items[at].clone());
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    found.sort_by_key(|candidate| candidate.to_string().len());
    found.retain(|candidate| candidate.to_string().len() < schema.to_string().len());
    found
}
