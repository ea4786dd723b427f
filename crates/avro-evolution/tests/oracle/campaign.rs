//! Pairs of schemas by chance, asked of both.

use std::fmt;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::thread;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use waybill_avro_evolution::{Schema, SchemaError};

use crate::agreement::{Verdict, compare, javas, ours, parse, read, reading};
use crate::java::Java;
use crate::shrink::shrunk;
use crate::{generator, mutation};

/// The seed of every run that names no other: a failure on one machine is one on all.
const SEED: u64 = 20_261_201;

/// How many pairs are made before they are asked.
const ROUND: usize = 5_000;

/// How often a schema is made again that is refused, and how often it is taken all the same.
const ATTEMPTS: usize = 10;
const REFUSED_KEPT: f64 = 0.03;

/// What a number of pairs came to.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    compatible: usize,
    incompatible: usize,
    unanswered: usize,
    refused: usize,
    reasons: usize,
}

impl Counts {
    /// Pairs of which both schemas are schemas.
    pub(crate) fn judged(&self) -> usize {
        self.compatible + self.incompatible + self.unanswered
    }

    fn count(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Refused { .. } => self.refused += 1,
            Verdict::Unanswered => self.unanswered += 1,
            Verdict::Reasons(reasons) if reasons.is_empty() => self.compatible += 1,
            Verdict::Reasons(reasons) => {
                self.incompatible += 1;
                self.reasons += reasons.len();
            }
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} pairs judged alike: {} compatible, {} incompatible for {} reasons, {} without an answer; \
             and {} pairs of which both refuse the same schema",
            self.judged(),
            self.compatible,
            self.incompatible,
            self.reasons,
            self.unanswered,
            self.refused
        )
    }
}

/// The number that the environment gives under that name.
pub(crate) fn named(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

pub(crate) fn seed() -> u64 {
    named("WAYBILL_AVRO_SEED", SEED)
}

pub(crate) fn seeded() -> StdRng {
    StdRng::seed_from_u64(seed())
}

/// A reader's and a writer's schema, mostly versions of one, and mostly such that both are accepted.
pub(crate) fn pair(rng: &mut StdRng) -> (Value, Value) {
    let base = mostly_accepted(rng, generator::schema);
    let version = |rng: &mut StdRng| {
        mostly_accepted(rng, |rng| {
            let mut version = base.clone();
            for _ in 0..*[0, 1, 1, 2, 3].choose(rng).unwrap_or(&0) {
                version = mutation::mutated(rng, &version);
            }
            version
        })
    };
    let writer = version(rng);
    let reader = if rng.random_bool(0.03) { generator::schema(rng) } else { version(rng) };
    (reader, writer)
}

/// Chance alone makes more texts that are refused than a test of what is accepted can use.
fn mostly_accepted(rng: &mut StdRng, make: impl Fn(&mut StdRng) -> Value) -> Value {
    let mut made = make(rng);
    for _ in 0..ATTEMPTS {
        if rng.random_bool(REFUSED_KEPT) || Schema::parse(&made.to_string()).is_ok() {
            break;
        }
        made = make(rng);
    }
    made
}

/// What Java and we say, both at once, for each question and what ours is made of.
pub(crate) fn both<Q: Sync, V: Send>(
    java: &mut Java,
    asked: &[Q],
    question: impl Fn(&Q) -> Value,
    ours: impl Fn(&Q) -> V + Send,
) -> Vec<(Value, V)> {
    let questions: Vec<Value> = asked.iter().map(question).collect();
    thread::scope(|scope| {
        let ours = scope.spawn(|| asked.iter().map(ours).collect::<Vec<V>>());
        let answers = java.ask(&questions);
        answers.into_iter().zip(ours.join().expect("ours does not panic")).collect()
    })
}

/// Asks until that many pairs were judged. The first difference is shrunk, kept and shown.
pub(crate) fn compare_pairs(judged: usize) -> Counts {
    let mut rng = seeded();
    let mut java = Java::start();
    let mut counts = Counts::default();
    while counts.judged() < judged {
        let pairs: Vec<(Value, Value)> = (0..ROUND).map(|_| pair(&mut rng)).collect();
        let question = |(reader, writer): &(Value, Value)| compare(&reader.to_string(), &writer.to_string());
        let judge = |(reader, writer): &(Value, Value)| ours(&reader.to_string(), &writer.to_string());
        for ((reader, writer), (answer, verdict)) in
            pairs.iter().zip(both(&mut java, &pairs, question, judge))
        {
            if verdict != javas(&answer) {
                show_difference(&mut java, vec![reader.clone(), writer.clone()]);
            }
            counts.count(&verdict);
        }
    }
    counts
}

fn show_difference(java: &mut Java, pair: Vec<Value>) -> ! {
    let mut said = |texts: &[Value]| {
        let [reader, writer] = [&texts[0], &texts[1]].map(Value::to_string);
        let answer = java.ask_one(compare(&reader, &writer));
        (ours(&reader, &writer), javas(&answer), answer)
    };
    let smallest = shrunk(pair, |texts| {
        let (ours, javas, _) = said(texts);
        ours != javas
    });
    keep(&smallest);
    let (ours, javas, answer) = said(&smallest);
    panic!(
        "seed {}: they differ (kept in regressions.jsonl)\nreader {}\nwriter {}\nours   {ours:?}\nJava's {javas:?}\n{answer}",
        seed(),
        smallest[0],
        smallest[1],
    );
}

/// Asks about that many schemas, of which some refer to another one. Gives how many both accept, and how many both refuse.
pub(crate) fn parse_schemas(count: usize) -> (usize, usize) {
    let mut rng = StdRng::seed_from_u64(seed() ^ 1);
    let mut java = Java::start();
    let mut accepted = 0;
    for _ in 0..count.div_ceil(ROUND) {
        let asked: Vec<(String, Vec<String>)> = (0..ROUND).map(|_| text_and_references(&mut rng)).collect();
        let question = |(text, references): &(String, Vec<String>)| parse(text, references);
        let answers = both(&mut java, &asked, question, |(text, references)| reading(text, references));
        for ((text, references), (answer, reading)) in asked.iter().zip(answers) {
            let agree = agree(&reading, &answer);
            assert!(agree, "seed {}\n{text}\n{references:#?}\nours {reading:#?}\nJava's {answer:#}", seed());
            accepted += usize::from(reading.is_ok());
        }
    }
    (accepted, count.div_ceil(ROUND) * ROUND - accepted)
}

/// Whether both refuse a text, or say the same about it.
pub(crate) fn agree(ours: &Result<Value, SchemaError>, javas: &Value) -> bool {
    let Ok(ours) = ours else { return javas.get("refused").is_some() };
    let mut javas = javas.clone();
    if let Some(text) = javas.get("text").map(|text| read(text.as_str().unwrap_or_default())) {
        javas["text"] = text;
    }
    *ours == javas
}

fn text_and_references(rng: &mut StdRng) -> (String, Vec<String>) {
    let mut schema = generator::schema(rng);
    for _ in 0..rng.random_range(0..4) {
        schema = mutation::mutated(rng, &schema);
    }
    let mut references = Vec::new();
    if rng.random_bool(0.3) {
        // What one of its versions defines is there to be referred to, or to be defined again.
        let reference = mostly_accepted(rng, |rng| mutation::mutated(rng, &schema));
        references.push(reference.to_string());
        if rng.random_bool(0.5) {
            schema = mutation::mutated(rng, &schema);
        }
    }
    (schema.to_string(), references)
}

fn regressions() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle/regressions.jsonl"))
}

fn keep(texts: &[Value]) {
    let line = json!({"reader": texts[0], "writer": texts[1]});
    let file = OpenOptions::new().create(true).append(true).open(regressions());
    let written = file.and_then(|mut file| writeln!(file, "{line}"));
    written.expect("the regressions can be written");
}

/// Every pair that differed once.
pub(crate) fn kept() -> Vec<(String, String)> {
    let lines = std::fs::read_to_string(regressions()).unwrap_or_default();
    let pair = |line: &str| {
        let line: Value = serde_json::from_str(line).expect("a line of JSON");
        (line["reader"].to_string(), line["writer"].to_string())
    };
    lines.lines().map(pair).collect()
}
