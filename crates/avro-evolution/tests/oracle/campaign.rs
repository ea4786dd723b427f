//! Pairs of schemas by chance, asked of both.

use std::fmt;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

use crate::agreement::{Verdict, compare, javas, ours};
use crate::java::Java;
use crate::shrink::shrunk;
use crate::{generator, mutation};

/// The seed of every run that names no other: a failure on one machine is one on all.
const SEED: u64 = 20_261_201;

/// How many pairs are made before they are asked.
const ROUND: usize = 5_000;

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

/// A reader's and a writer's schema, mostly versions of one.
pub(crate) fn pair(rng: &mut StdRng) -> (Value, Value) {
    let base = generator::schema(rng);
    let version = |rng: &mut StdRng| {
        let mut version = base.clone();
        for _ in 0..*[0, 1, 1, 2, 3].get(rng.random_range(0..5)).unwrap_or(&0) {
            version = mutation::mutated(rng, &version);
        }
        version
    };
    let writer = version(rng);
    let reader = if rng.random_bool(0.03) { generator::schema(rng) } else { version(rng) };
    (reader, writer)
}

/// Asks until that many pairs were judged. The first difference is shrunk, kept and shown.
pub(crate) fn compare_pairs(judged: usize) -> Counts {
    let mut rng = seeded();
    let mut java = Java::start();
    let mut counts = Counts::default();
    while counts.judged() < judged {
        let pairs: Vec<(Value, Value)> = (0..ROUND).map(|_| pair(&mut rng)).collect();
        let questions: Vec<Value> =
            pairs.iter().map(|(reader, writer)| compare(&reader.to_string(), &writer.to_string())).collect();
        for ((reader, writer), answer) in pairs.iter().zip(java.ask(&questions)) {
            let verdict = ours(&reader.to_string(), &writer.to_string());
            if verdict != javas(&answer) {
                let differs = |texts: &[Value], java: &mut Java| {
                    let [reader, writer] = [&texts[0], &texts[1]].map(Value::to_string);
                    ours(&reader, &writer) != javas(&java.ask_one(compare(&reader, &writer)))
                };
                let smallest =
                    shrunk(vec![reader.clone(), writer.clone()], |texts| differs(texts, &mut java));
                keep(&smallest);
                let [reader, writer] = [&smallest[0], &smallest[1]].map(Value::to_string);
                let answer = java.ask_one(compare(&reader, &writer));
                panic!(
                    "seed {}: they differ (kept in regressions.jsonl)\nreader {reader}\nwriter {writer}\n\
                     ours  {:?}\nJava's {:?}\n{answer}",
                    seed(),
                    ours(&reader, &writer),
                    javas(&answer)
                );
            }
            counts.count(&verdict);
        }
    }
    counts
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
