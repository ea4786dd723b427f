//! Whatever a record holds, it is an event or has a reason: never a panic. Each input is made from the seed and its number,
//! so that one of ten million can be looked at alone.
//!
//! `WAYBILL_FUZZ_INPUTS=10000000 WAYBILL_FUZZ_SEED=1 cargo test -p waybill-contract --release --test cloud_event fuzz`
//! runs ten million.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use waybill_contract::{Carried, CloudEvent};

use crate::events::read_back;

const INPUTS: u64 = 200_000;
const SEED: u64 = 20_261_201;

/// What mutations put in: what readers of headers and of JSON have stumbled over.
const PIECES: [&[u8]; 24] = [
    b"",
    b"\0",
    b"\xff",
    b"\xed\xa0\x80",
    b"\"",
    b"\\u",
    b"\\ud800",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b"null",
    b"1e999",
    b"-",
    b"ce_",
    b"data",
    b"data_base64",
    b"application/cloudevents+json",
    b";charset=",
    b"2026-02-30T25:61:61+99:99",
    b"\xef\xbf\xbe",
    b"/",
];
const NAMES: [&str; 12] = [
    "content-type",
    "ce_specversion",
    "ce_id",
    "ce_source",
    "ce_type",
    "ce_time",
    "ce_subject",
    "ce_dataschema",
    "ce_datacontenttype",
    "ce_",
    "ce_ext",
    "other",
];

fn variable(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number")))
}

/// A record that is sound, or was before it was changed a few times.
fn record(random: &mut StdRng) -> Carried {
    let binary = random.random_bool(0.5);
    let mut carried = sound(random, binary);
    for _ in 0..random.random_range(0..5) {
        match random.random_range(0..6) {
            0 => carried.headers.push(((*NAMES.choose(random).unwrap()).to_owned(), Some(bytes(random)))),
            1 if !carried.headers.is_empty() => {
                let at = random.random_range(0..carried.headers.len());
                carried.headers.swap_remove(at);
            }
            2 if !carried.headers.is_empty() => {
                let at = random.random_range(0..carried.headers.len());
                let value = carried.headers[at].1.take();
                carried.headers[at].1 =
                    value.filter(|_| random.random_bool(0.8)).map(|value| change(random, value));
            }
            3 => carried.payload = None,
            4 => carried.payload = Some(bytes(random)),
            _ => carried.payload = carried.payload.take().map(|payload| change(random, payload)),
        }
    }
    carried
}

fn sound(random: &mut StdRng, binary: bool) -> Carried {
    let number = random.random::<u16>();
    let id = format!("{number}");
    if !binary {
        let data = ["{\"a\": [1, 2.50]}", "\"text\"", "null", "12"].choose(random).unwrap();
        let json = format!(
            r#"{{"specversion":"1.0","id":"{id}","source":"/s","type":"t","time":"2026-03-01T12:00:00+08:00","ext":{number},"data":{data}}}"#
        );
        let content_type = ("content-type".to_owned(), Some(b"application/cloudevents+json".to_vec()));
        return Carried { headers: vec![content_type], payload: Some(json.into_bytes()) };
    }
    let headers = [
        ("ce_specversion", "1.0"),
        ("ce_id", &id),
        ("ce_source", "/s"),
        ("ce_type", "t"),
        ("ce_time", "2026-03-01T12:00:00.5Z"),
        ("content-type", "application/json"),
        ("ce_ext", "出口"),
    ];
    let headers = headers.map(|(name, text)| (name.to_owned(), Some(text.as_bytes().to_vec()))).to_vec();
    Carried { headers, payload: Some(b"{\"a\": 1}".to_vec()) }
}

fn bytes(random: &mut StdRng) -> Vec<u8> {
    let length = random.random_range(0..24);
    (0..length).map(|_| random.random()).collect()
}

fn change(random: &mut StdRng, mut bytes: Vec<u8>) -> Vec<u8> {
    let at = random.random_range(0..=bytes.len());
    let end = (at + random.random_range(0..4)).min(bytes.len());
    let piece: &[u8] = PIECES.choose(random).unwrap();
    bytes.splice(at..end, piece.iter().copied());
    bytes
}

#[test]
fn whatever_a_record_holds_it_is_an_event_or_has_a_reason() {
    let (inputs, seed) = (variable("WAYBILL_FUZZ_INPUTS", INPUTS), variable("WAYBILL_FUZZ_SEED", SEED));
    let mut ends: BTreeMap<&str, u64> = BTreeMap::new();
    for number in 0..inputs {
        let record = record(&mut StdRng::seed_from_u64(seed.wrapping_add(number)));
        let end = catch_unwind(AssertUnwindSafe(|| end(&record)));
        let end = end.unwrap_or_else(|_| panic!("input {number} of seed {seed}: {record:?}"));
        *ends.entry(end).or_default() += 1;
    }
    let mut said = format!("{inputs} inputs of seed {seed}:");
    for (end, count) in &ends {
        write!(said, " {end} {count},").unwrap();
    }
    eprintln!("{said}");
    // It got past the front door in both directions, and saw each kind of refusal.
    assert!(ends["an event"] > inputs / 10 && ends.len() > 15, "{said}");
}

/// How a record ends. An event can be written and read again in both modes, with the same identity.
fn end(record: &Carried) -> &'static str {
    let event: CloudEvent = match read_back(record) {
        Ok(event) => event,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return error.reason();
        }
    };
    for written in [event.to_binary(), event.to_structured()] {
        assert_eq!(read_back(&written).map(|again| again.event_key()).ok(), Some(event.event_key()));
    }
    "an event"
}
