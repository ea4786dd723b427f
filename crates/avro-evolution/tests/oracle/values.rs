//! Values by chance, and values in the form in which Java shows them.

use rand::Rng;
use rand::rngs::StdRng;
use serde_json::{Map, Value as Json, json};
use waybill_avro_evolution::{Kind, Primitive, Schema, TypeId, Value};

/// How deep a value goes before it takes every way out that its type leaves.
const DEPTH_EASY: usize = 6;

/// How deep it goes at all, and how many values are in it: some types leave no way out.
const DEPTH_MAX: usize = 24;
const VALUES_MAX: usize = 400;

/// A value of the schema, where one of bounded size can be found.
pub(crate) fn value(rng: &mut StdRng, schema: &Schema) -> Option<Value> {
    part(rng, schema, schema.root(), 0, &mut 0)
}

fn part(rng: &mut StdRng, schema: &Schema, id: TypeId, depth: usize, count: &mut usize) -> Option<Value> {
    *count += 1;
    if depth > DEPTH_MAX || *count > VALUES_MAX {
        return None;
    }
    let few = |rng: &mut StdRng| {
        if depth > DEPTH_EASY { 0 } else { *[0, 1, 1, 2].get(rng.random_range(0..4)).unwrap_or(&0) }
    };
    Some(match &schema[id].kind {
        Kind::Primitive(primitive) => primitive_value(rng, *primitive),
        Kind::Fixed(fixed) => Value::Fixed(id, (0..fixed.size).map(|_| rng.random()).collect()),
        Kind::Enum(symbols) if symbols.symbols.is_empty() => return None,
        Kind::Enum(symbols) => {
            let place = rng.random_range(0..symbols.symbols.len());
            Value::Enum(id, u32::try_from(place).unwrap_or(0))
        }
        Kind::Array(of) => Value::Array(
            (0..few(rng)).map(|_| part(rng, schema, *of, depth + 1, count)).collect::<Option<_>>()?,
        ),
        Kind::Map(of) => {
            let entries =
                (0..few(rng)).map(|n| Some((format!("k{n}"), part(rng, schema, *of, depth + 1, count)?)));
            Value::Map(entries.collect::<Option<_>>()?)
        }
        Kind::Record(record) => {
            let fields = record.fields.iter().map(|field| part(rng, schema, field.ty, depth + 1, count));
            Value::Record(id, fields.collect::<Option<_>>()?)
        }
        Kind::Union(branches) => {
            let is_null = |branch: &&TypeId| matches!(schema[**branch].kind, Kind::Primitive(_));
            let easy = branches.iter().find(is_null).filter(|_| depth > DEPTH_EASY);
            let branch = match easy {
                Some(easy) => *easy,
                None if branches.is_empty() => return None,
                None => branches[rng.random_range(0..branches.len())],
            };
            part(rng, schema, branch, depth + 1, count)?
        }
    })
}

fn primitive_value(rng: &mut StdRng, primitive: Primitive) -> Value {
    match primitive {
        Primitive::Null => Value::Null,
        Primitive::Boolean => Value::Boolean(rng.random()),
        Primitive::Int => Value::Int(rng.random::<i32>() >> rng.random_range(0..32)),
        Primitive::Long => Value::Long(rng.random::<i64>() >> rng.random_range(0..64)),
        Primitive::Float => Value::Float(match rng.random_range(0..4) {
            0 => f32::from_bits(rng.random::<u32>() & 0xff7f_ffff),
            _ => rng.random_range(-1000..1000) as f32 / 8.0,
        }),
        Primitive::Double => Value::Double(match rng.random_range(0..4) {
            0 => f64::from_bits(rng.random::<u64>() & 0xffdf_ffff_ffff_ffff),
            _ => rng.random_range(-1_000_000..1_000_000) as f64 / 64.0,
        }),
        // Bytes that are a text, too: as such they may be read.
        Primitive::Bytes => Value::Bytes(text(rng).into_bytes()),
        Primitive::String => Value::String(text(rng)),
    }
}

fn text(rng: &mut StdRng) -> String {
    const CHARACTERS: [char; 8] = ['a', 'Z', '0', ' ', 'ß', '单', '😀', '\0'];
    let length = if rng.random_bool(0.05) { 200 } else { rng.random_range(0..8) };
    (0..length).map(|_| CHARACTERS[rng.random_range(0..CHARACTERS.len())]).collect()
}

/// As `Oracle.java` shows it.
pub(crate) fn shown(schema: &Schema, value: &Value) -> Json {
    let name = |id: &TypeId| schema[*id].full_name();
    match value {
        Value::Null => json!(["null"]),
        Value::Boolean(value) => json!(["boolean", value]),
        Value::Int(value) => json!(["int", value.to_string()]),
        Value::Long(value) => json!(["long", value.to_string()]),
        Value::Float(value) => json!(["float", format!("{:x}", value.to_bits())]),
        Value::Double(value) => json!(["double", format!("{:x}", value.to_bits())]),
        Value::Bytes(bytes) => json!(["bytes", hex(bytes)]),
        Value::String(text) => json!(["string", text]),
        Value::Fixed(of, bytes) => json!([name(of), hex(bytes)]),
        Value::Enum(of, place) => {
            let Kind::Enum(symbols) = &schema[*of].kind else { panic!("an enum") };
            json!([name(of), symbols.symbols[*place as usize]])
        }
        Value::Array(items) => {
            json!(["array", items.iter().map(|item| shown(schema, item)).collect::<Vec<_>>()])
        }
        Value::Map(entries) => {
            let entries = entries.iter().map(|(key, value)| (key.clone(), shown(schema, value)));
            json!(["map", entries.collect::<Map<String, Json>>()])
        }
        Value::Record(of, values) => {
            let Kind::Record(record) = &schema[*of].kind else { panic!("a record") };
            let fields = record.fields.iter().zip(values);
            let fields = fields.map(|(field, value)| (field.name.clone(), shown(schema, value)));
            json!([name(of), fields.collect::<Map<String, Json>>()])
        }
    }
}

/// Whether its bytes are the same wherever it is written: a Java map has no order.
pub(crate) fn has_one_order(value: &Value) -> bool {
    match value {
        Value::Map(entries) => entries.len() < 2 && entries.iter().all(|(_, value)| has_one_order(value)),
        Value::Array(items) | Value::Record(_, items) => items.iter().all(has_one_order),
        Value::Null
        | Value::Boolean(_)
        | Value::Int(_)
        | Value::Long(_)
        | Value::Float(_)
        | Value::Double(_)
        | Value::Bytes(_)
        | Value::String(_)
        | Value::Fixed(..)
        | Value::Enum(..) => true,
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}
