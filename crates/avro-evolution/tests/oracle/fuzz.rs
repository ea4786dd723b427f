//! Bytes by chance, and bytes that were a value once: an error or a value, and the same one for both ways to decode.

use std::fmt;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use waybill_avro_evolution::{DecodeError, Kind, Plan, Schema, Value};

use crate::campaign::{pair, seed};
use crate::values::{hex, value};

/// How many inputs each pair of schemas gets.
const INPUTS: usize = 50;

/// Feeds that many inputs. Gives how many were values.
pub(crate) fn feed(wanted: usize) -> (usize, usize) {
    let mut rng = StdRng::seed_from_u64(seed() ^ 3);
    let (mut fed, mut values) = (0, 0);
    while fed < wanted {
        let (reader, writer) = pair(&mut rng);
        let parsed = (Schema::parse(&reader.to_string()), Schema::parse(&writer.to_string()));
        let (Ok(reader), Ok(writer)) = parsed else { continue };
        let plan = Plan::new(&writer, &reader);
        for _ in 0..INPUTS {
            let bytes = input(&mut rng, &writer);
            fed += 1;
            values += usize::from(decode_both_ways(&plan, &bytes));
        }
    }
    (fed, values)
}

fn input(rng: &mut StdRng, writer: &Schema) -> Vec<u8> {
    let mut bytes = Vec::new();
    if rng.random_bool(0.7)
        && let Some(value) = value(rng, writer)
    {
        writer.encode(&value, &mut bytes).expect("a value of its schema");
        for _ in 0..rng.random_range(0..4) {
            mutate(rng, &mut bytes);
        }
    } else {
        bytes = (0..rng.random_range(0..64)).map(|_| rng.random()).collect();
    }
    bytes
}

fn mutate(rng: &mut StdRng, bytes: &mut Vec<u8>) {
    let at = rng.random_range(0..=bytes.len());
    match rng.random_range(0..5) {
        0 => bytes.truncate(at),
        1 => bytes.insert(at, rng.random()),
        2 if at < bytes.len() => drop(bytes.remove(at)),
        3 if at < bytes.len() => bytes[at] ^= 1 << rng.random_range(0..8),
        // A number as large as they come.
        _ => drop(bytes.splice(at..at, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1])),
    }
}

fn decode_both_ways(plan: &Plan, bytes: &[u8]) -> bool {
    let decoded = plan.decode(bytes).map(|value| written(plan.reader(), &value));
    let seen: Result<Seen, DecodeError> = plan.deserialize(bytes);
    match (&decoded, &seen) {
        (Ok(decoded), Ok(seen)) => assert_eq!(*decoded, seen.0, "{:?}\n{}", plan.reader(), hex(bytes)),
        (Err(_), Err(_)) => {}
        _ => panic!("{decoded:?} and {seen:?}\n{:?}\n{}", plan.reader(), hex(bytes)),
    }
    decoded.is_ok()
}

/// A value as a text, in as much as a type that deserialises from it can tell.
fn written(schema: &Schema, value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Boolean(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Long(value) => value.to_string(),
        Value::Float(value) => format!("f{:x}", value.to_bits()),
        Value::Double(value) => format!("d{:x}", value.to_bits()),
        Value::Bytes(bytes) | Value::Fixed(_, bytes) => format!("<{}>", hex(bytes)),
        Value::String(text) => format!("{text:?}"),
        Value::Enum(of, place) => {
            let Kind::Enum(symbols) = &schema[*of].kind else { panic!("an enum") };
            format!("{:?}", symbols.symbols[*place as usize])
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(|item| written(schema, item)).collect::<Vec<_>>().join(","))
        }
        Value::Map(entries) => {
            let entries = entries.iter().map(|(key, value)| format!("{key:?}:{}", written(schema, value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
        }
        Value::Record(of, values) => {
            let Kind::Record(record) = &schema[*of].kind else { panic!("a record") };
            let fields = record.fields.iter().zip(values);
            let mut fields: Vec<String> =
                fields.map(|(field, value)| format!("{:?}:{}", field.name, written(schema, value))).collect();
            // A struct's fields come in the writer's order.
            fields.sort();
            format!("{{{}}}", fields.join(","))
        }
    }
}

/// The same of whatever deserialises. Records and maps look alike, so their fields are sorted only if they are no map's.
#[derive(Debug)]
struct Seen(String);

impl<'de> Deserialize<'de> for Seen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Anything).map(Self)
    }
}

struct Anything;

impl<'de> Visitor<'de> for Anything {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_unit<E>(self) -> Result<String, E> {
        Ok("null".to_owned())
    }

    fn visit_bool<E>(self, value: bool) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_i32<E>(self, value: i32) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_i64<E>(self, value: i64) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_f32<E>(self, value: f32) -> Result<String, E> {
        Ok(format!("f{:x}", value.to_bits()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<String, E> {
        Ok(format!("d{:x}", value.to_bits()))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<String, E> {
        Ok(format!("<{}>", hex(bytes)))
    }

    fn visit_str<E>(self, text: &str) -> Result<String, E> {
        Ok(format!("{text:?}"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<String, A::Error> {
        let mut shown = Vec::new();
        while let Some(Seen(item)) = items.next_element()? {
            shown.push(item);
        }
        Ok(format!("[{}]", shown.join(",")))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<String, A::Error> {
        let mut shown = Vec::new();
        let is_map = entries.size_hint().is_some();
        while let Some((Seen(key), Seen(value))) = entries.next_entry()? {
            shown.push(format!("{key}:{value}"));
        }
        if !is_map {
            shown.sort();
        }
        Ok(format!("{{{}}}", shown.join(",")))
    }
}
