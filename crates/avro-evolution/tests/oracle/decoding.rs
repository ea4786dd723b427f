//! What a reader makes of a writer's bytes, in Java and here.

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand::rngs::StdRng;
use serde_json::{Value as Json, json};
use waybill_avro_evolution::{Plan, Schema, incompatibilities};

use crate::campaign::{both, pair, seed};
use crate::differences;
use crate::java::Java;
use crate::values::{has_one_order, hex, shown, value};

/// How many pairs of schemas are made before they are asked, and how many values each has.
const ROUND: usize = 2_000;
const VALUES: usize = 8;

/// A pair of which the reader reads everything that the writer writes, as the compatibility check says.
struct Trial {
    texts: [String; 2],
    reader: Schema,
    writer: Schema,
    data: Vec<Vec<u8>>,
}

/// Makes that many trials, and counts how they came out.
pub(crate) fn decode_trials(wanted: usize) -> BTreeMap<&'static str, usize> {
    let mut rng = StdRng::seed_from_u64(seed() ^ 2);
    let mut java = Java::start();
    let mut counts = BTreeMap::new();
    let mut made = 0;
    while made < wanted {
        let trials: Vec<Trial> = (0..ROUND).filter_map(|_| trial(&mut rng)).collect();
        let question = |trial: &Trial| {
            let data: Vec<String> = trial.data.iter().map(|datum| hex(datum)).collect();
            json!({"ask": "decode", "reader": trial.texts[0], "writer": trial.texts[1], "data": data})
        };
        for (trial, (answer, ours)) in trials.iter().zip(both(&mut java, &trials, question, read)) {
            let nothing = Vec::new();
            let javas = answer.get("values").and_then(Json::as_array).unwrap_or(&nothing);
            for (at, ours) in ours.iter().enumerate() {
                let outcome = judge(trial, ours, javas.get(at).unwrap_or(&Json::Null));
                *counts.entry(outcome).or_default() += 1;
                made += 1;
            }
        }
    }
    counts
}

fn trial(rng: &mut StdRng) -> Option<Trial> {
    let (reader, writer) = pair(rng);
    let texts = [reader.to_string(), writer.to_string()];
    let [reader, writer] = [Schema::parse(&texts[0]).ok()?, Schema::parse(&texts[1]).ok()?];
    if incompatibilities(&reader, &writer) != Ok(Vec::new()) {
        return None;
    }
    let mut data = Vec::with_capacity(VALUES);
    for _ in 0..VALUES {
        let value = value(rng, &writer)?;
        let mut bytes = Vec::new();
        writer.encode(&value, &mut bytes).expect("a value of its schema");
        let again = Plan::of(&writer).decode(&bytes);
        assert_eq!(
            again.as_ref().map(|again| shown(&writer, again)),
            Ok(shown(&writer, &value)),
            "{writer:?}"
        );
        data.push(bytes);
    }
    Some(Trial { texts, reader, writer, data })
}

/// The value and its bytes with the reader's schema, where they do not depend on the order of a map.
type Read = Result<(Json, Option<String>), String>;

fn read(trial: &Trial) -> Vec<Read> {
    let plan = Plan::new(&trial.writer, &trial.reader);
    let read = |datum: &Vec<u8>| {
        let value = plan.decode(datum).map_err(|error| error.to_string())?;
        let mut again = Vec::new();
        trial.reader.encode(&value, &mut again).map_err(|error| format!("not written again: {error}"))?;
        Ok((shown(&trial.reader, &value), has_one_order(&value).then(|| hex(&again))))
    };
    trial.data.iter().map(read).collect()
}

/// How a trial came out. What no difference on purpose explains ends the test.
fn judge(trial: &Trial, ours: &Read, javas: &Json) -> &'static str {
    let [reader, writer] = &trial.texts;
    match (ours, javas.get("value")) {
        (Ok((value, again)), Some(javas_value)) if value == javas_value => {
            let same_bytes = again.as_deref().is_none_or(|again| javas["again"] == again);
            assert!(same_bytes, "{reader}\n{writer}\n{value}\nours {again:?}\nJava's {javas}");
            "the same value"
        }
        (Ok((value, _)), Some(javas_value)) => {
            let why = differences::why_another_value(&trial.reader, &trial.writer);
            why.unwrap_or_else(|| {
                panic!(
                    "seed {}\nreader {reader}\nwriter {writer}\nours   {value}\nJava's {javas_value}",
                    seed()
                )
            })
        }
        (Ok(_), None) => {
            let refusal = javas["refused"].as_str().unwrap_or_default();
            differences::why_refused(refusal).unwrap_or_else(|| {
                panic!("seed {}\nreader {reader}\nwriter {writer}\nJava refuses: {javas}", seed())
            })
        }
        (Err(_), None) => "refused by both: a default is no value of its field",
        (Err(error), Some(_)) => {
            panic!("seed {}\nreader {reader}\nwriter {writer}\nrefused here: {error}\nJava's {javas}", seed())
        }
    }
}
