//! Changes of a schema: what people do to theirs, and what breaks one.

use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};
use serde_json::{Value, json};

use crate::generator::{FIELDS, PRIMITIVES, SYMBOLS, default_of, small};

/// Names that few fields have: one that two fields mean leaves nothing to compare.
const ALIASES: [&str; 4] = ["g", "h", "not a name", "f"];

/// A schema with one change.
pub(crate) fn mutated(rng: &mut StdRng, schema: &Value) -> Value {
    let mut schema = schema.clone();
    // Not every change fits everywhere: a few attempts.
    for _ in 0..8 {
        if change(rng, &mut schema) {
            break;
        }
    }
    schema
}

fn change(rng: &mut StdRng, schema: &mut Value) -> bool {
    match rng.random_range(0..30) {
        0..=11 => record(rng, schema),
        12..=16 => replace_type(rng, schema),
        17..=19 => union(rng, schema),
        20..=21 => symbols(rng, schema),
        22 => attribute(rng, schema, "size", |rng, _| json!(rng.random_range(0..20))),
        23..=25 => naming(rng, schema),
        26 => attribute(rng, schema, "logicalType", |rng, _| {
            json!(*["date", "uuid", "decimal", "timestamp-millis"].choose(rng).unwrap_or(&"date"))
        }),
        27 => remove_attribute(rng, schema),
        28 => double_definition(rng, schema),
        _ => nonsense(rng, schema),
    }
}

/// The places in a schema's JSON where `wanted` holds, as pointers.
pub(crate) fn places(schema: &Value, wanted: &dyn Fn(&Value) -> bool) -> Vec<String> {
    fn walk(value: &Value, at: &str, wanted: &dyn Fn(&Value) -> bool, found: &mut Vec<String>) {
        if wanted(value) {
            found.push(at.to_owned());
        }
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    walk(item, &format!("{at}/{index}"), wanted, found);
                }
            }
            Value::Object(properties) => {
                for (name, value) in properties {
                    if !["default", "aliases", "symbols", "owner", "x"].contains(&name.as_str()) {
                        walk(
                            value,
                            &format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")),
                            wanted,
                            found,
                        );
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut found = Vec::new();
    walk(schema, "", wanted, &mut found);
    found
}

fn some_place<'s>(
    rng: &mut StdRng,
    schema: &'s mut Value,
    wanted: &dyn Fn(&Value) -> bool,
) -> Option<&'s mut Value> {
    let found = places(schema, wanted);
    let place = found.choose(rng)?;
    schema.pointer_mut(place)
}

fn is_type(value: &Value) -> bool {
    value.is_array() || value.get("type").is_some_and(Value::is_string) || value.is_string()
}

/// Places where a type stands, and nothing else.
fn type_places(schema: &Value) -> Vec<String> {
    let is_place = |place: &str| {
        let mut steps = place.rsplit('/');
        match steps.next() {
            Some("" | "items" | "values") => true,
            Some("type") => place == "/type" || steps.nth(1) == Some("fields"),
            Some(_) => {
                schema.pointer(&place[..place.rfind('/').unwrap_or(0)]).is_some_and(Value::is_array)
                    && !["fields", "symbols"].contains(&steps.next().unwrap_or_default())
            }
            None => true,
        }
    };
    places(schema, &is_type).into_iter().filter(|place| is_place(place)).collect()
}

fn record(rng: &mut StdRng, schema: &mut Value) -> bool {
    let Some(record) = some_place(rng, schema, &|value| value.get("fields").is_some_and(Value::is_array))
    else {
        return false;
    };
    let Some(fields) = record["fields"].as_array_mut() else { return false };
    let name = FIELDS.choose(rng).copied().unwrap_or("a");
    if fields.is_empty() || rng.random_bool(0.25) {
        let ty = small(rng);
        let mut field = json!({"name": name, "type": ty});
        if rng.random_bool(0.6) {
            field["default"] = default_of(rng, &ty);
        }
        // Mostly under a name that is free.
        if fields.iter().all(|other| other["name"] != name) || rng.random_bool(0.05) {
            let at = rng.random_range(0..=fields.len());
            fields.insert(at, field);
        }
        return true;
    }
    let at = rng.random_range(0..fields.len());
    let field = &mut fields[at];
    if !field.is_object() {
        return false;
    }
    match rng.random_range(0..8) {
        0 => drop(fields.remove(at)),
        1 => fields.shuffle(rng),
        2 => {
            let old = std::mem::replace(&mut field["name"], json!(name));
            if rng.random_bool(0.6) {
                field["aliases"] = json!([old]);
            }
        }
        3 if rng.random_bool(0.5) => field["aliases"] = json!([name, ALIASES.choose(rng)]),
        3 | 4 => field["default"] = default_of(rng, &field["type"].clone()),
        5 => {
            if let Some(field) = field.as_object_mut() {
                field.shift_remove("default");
            }
        }
        6 => field["order"] = json!("descending"),
        _ => {
            let ty = field["type"].take();
            field["type"] = if ty.is_array() { ty } else { json!(["null", ty]) };
            if rng.random_bool(0.5) {
                field["default"] = Value::Null;
            }
        }
    }
    true
}

/// What a primitive may become, or have been.
fn promoted(rng: &mut StdRng, name: &str) -> Option<&'static str> {
    let to: &[&str] = match name {
        "int" => &["long", "float", "double"],
        "long" => &["int", "float", "double"],
        "float" => &["double", "long"],
        "double" => &["float"],
        "bytes" => &["string"],
        "string" => &["bytes"],
        _ => &PRIMITIVES,
    };
    to.choose(rng).copied()
}

fn replace_type(rng: &mut StdRng, schema: &mut Value) -> bool {
    let names: Vec<Value> =
        places(schema, &|value| value.get("name").is_some() && value.get("type").is_some())
            .iter()
            .filter_map(|place| schema.pointer(place)?.get("name").cloned())
            .collect();
    let found = type_places(schema);
    let Some(place) = found.choose(rng).and_then(|place| schema.pointer_mut(place)) else { return false };
    let old = place.take();
    *place = match (rng.random_range(0..8), &old) {
        (0..=3, Value::String(name)) => json!(promoted(rng, name)),
        (0, _) => old.get("items").or(old.get("values")).cloned().unwrap_or(old),
        (1, _) => json!({"type": "array", "items": old}),
        (2, _) => json!({"type": "map", "values": old}),
        (3 | 4, _) => json!([old]),
        // A name from anywhere, so that types hold themselves and each other.
        (5, _) if !names.is_empty() => names.choose(rng).cloned().unwrap_or_default(),
        (6, Value::String(_)) => json!({"type": old}),
        _ => small(rng),
    };
    true
}

fn union(rng: &mut StdRng, schema: &mut Value) -> bool {
    let is_union = |schema: &Value| {
        let found = type_places(schema);
        found
            .into_iter()
            .filter(|place| schema.pointer(place).is_some_and(Value::is_array))
            .collect::<Vec<_>>()
    };
    let found = is_union(schema);
    let Some(Value::Array(branches)) = found.choose(rng).and_then(|place| schema.pointer_mut(place)) else {
        return false;
    };
    match rng.random_range(0..4) {
        0 => branches.shuffle(rng),
        1 if !branches.is_empty() => drop(branches.remove(rng.random_range(0..branches.len()))),
        2 => branches.push(small(rng)),
        _ => branches.push(json!(PRIMITIVES.choose(rng))),
    }
    true
}

fn symbols(rng: &mut StdRng, schema: &mut Value) -> bool {
    let Some(symbols) = some_place(rng, schema, &|value| value.get("symbols").is_some_and(Value::is_array))
    else {
        return false;
    };
    let Some(list) = symbols["symbols"].as_array_mut() else { return false };
    match rng.random_range(0..5) {
        0 => list.shuffle(rng),
        1 if !list.is_empty() => drop(list.remove(rng.random_range(0..list.len()))),
        2 => list.push(json!(SYMBOLS.choose(rng))),
        3 => symbols["default"] = list.choose(rng).cloned().unwrap_or_default(),
        _ => {
            if let Some(symbols) = symbols.as_object_mut() {
                symbols.shift_remove("default");
            }
        }
    }
    true
}

fn attribute(
    rng: &mut StdRng,
    schema: &mut Value,
    name: &str,
    value: impl FnOnce(&mut StdRng, &Value) -> Value,
) -> bool {
    let Some(place) = some_place(rng, schema, &|value| value.get(name).is_some()) else { return false };
    place[name] = value(rng, &place[name]);
    true
}

/// Names of types: changed where they are defined, and mostly where they are used.
fn naming(rng: &mut StdRng, schema: &mut Value) -> bool {
    let is_named =
        |value: &Value| ["fields", "symbols", "size"].iter().any(|attribute| value.get(attribute).is_some());
    let Some(ty) = some_place(rng, schema, &is_named) else { return false };
    let name = ["A", "B", "G", "n.A", "o.B", "p.H"].choose(rng).copied().unwrap_or("G");
    match rng.random_range(0..4) {
        0 => ty["namespace"] = json!(*["n", "o", "", "p"].choose(rng).unwrap_or(&"n")),
        1 => ty["aliases"] = json!([name]),
        _ => {
            let old = std::mem::replace(&mut ty["name"], json!(name));
            if rng.random_bool(0.5) {
                ty["aliases"] = json!([old]);
            }
            if rng.random_bool(0.8) {
                let uses: Vec<String> = type_places(schema)
                    .into_iter()
                    .filter(|place| schema.pointer(place) == Some(&old))
                    .collect();
                for place in uses {
                    if let Some(place) = schema.pointer_mut(&place) {
                        *place = json!(name);
                    }
                }
            }
        }
    }
    true
}

fn remove_attribute(rng: &mut StdRng, schema: &mut Value) -> bool {
    let Some(Value::Object(place)) = some_place(rng, schema, &|value| value.is_object()) else {
        return false;
    };
    let names: Vec<String> = place.keys().cloned().collect();
    names.choose(rng).is_some_and(|name| place.shift_remove(name).is_some())
}

/// A definition in a second place, the same or nearly.
fn double_definition(rng: &mut StdRng, schema: &mut Value) -> bool {
    let definitions = places(schema, &|value| value.get("name").is_some() && value.get("type").is_some());
    let Some(mut copy) = definitions.choose(rng).and_then(|place| schema.pointer(place)).cloned() else {
        return false;
    };
    if rng.random_bool(0.5) {
        copy["doc"] = json!("another");
    }
    if rng.random_bool(0.2) {
        copy["x"] = json!(1);
    }
    let found = type_places(schema);
    let Some(place) = found.choose(rng).and_then(|place| schema.pointer_mut(place)) else { return false };
    *place = copy;
    true
}

/// Anything in place of anything.
fn nonsense(rng: &mut StdRng, schema: &mut Value) -> bool {
    let values = [
        json!(null),
        json!(true),
        json!(7),
        json!(-1),
        json!(1.5),
        json!(""),
        json!("1x"),
        json!("a.b"),
        json!("A"),
        json!({}),
        json!([]),
        json!({"type": {"type": "int"}}),
        json!(["int"]),
        json!({"a": 1, "b": {}}),
        json!("ignore"),
    ];
    let all = places(schema, &|_| true);
    let Some(place) = all.choose(rng).and_then(|place| schema.pointer_mut(place)) else { return false };
    if let (Value::Object(place), true) = (&mut *place, rng.random_bool(0.6)) {
        let attributes =
            ["name", "namespace", "aliases", "default", "order", "size", "symbols", "doc", "type"];
        let name = attributes.choose(rng).copied().unwrap_or("name");
        place.insert(name.to_owned(), values.choose(rng).cloned().unwrap_or_default());
    } else {
        *place = values.choose(rng).cloned().unwrap_or_default();
    }
    true
}
