//! What the turns came to.

use anyhow::{Result, ensure};

use super::records::COUNT;
use super::side::{Operation, Turn};
use crate::figure::{Better, Figure};

/// Whose turn it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    Java,
    Values,
    Structs,
    Peer,
}

/// What the figures are beside.
const JAVA: &str = "Avro 1.12.1 for Java";
const PEER: &str = "apache-avro 0.22";

/// All turns that count, in nanoseconds a record.
#[derive(Debug, Default)]
pub(crate) struct Report {
    turns: Vec<(Operation, Who, f64)>,
    sums: Vec<(Operation, i64)>,
}

impl Report {
    /// One more turn. Everybody has to come to the same sum.
    pub(crate) fn add(&mut self, operation: Operation, who: Who, passes: u32, turn: Turn) -> Result<()> {
        let sum = turn.sum / i64::from(passes);
        match self.sums.iter().find(|(of, _)| *of == operation) {
            Some((_, known)) => {
                ensure!(*known == sum, "{operation:?} came to {sum} for {who:?}, and not to {known}")
            }
            None => self.sums.push((operation, sum)),
        }
        self.turns.push((operation, who, turn.nanoseconds / (f64::from(passes) * COUNT as f64)));
        Ok(())
    }

    fn median(&self, operation: Operation, who: Who) -> f64 {
        let of = |turn: &&(Operation, Who, f64)| turn.0 == operation && turn.1 == who;
        let mut times: Vec<f64> = self.turns.iter().filter(of).map(|turn| turn.2).collect();
        times.sort_by(f64::total_cmp);
        times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn figures(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        for (operation, names) in [
            (Operation::Encode, ["encode_vs_java", "encode_struct_vs_java", "encode_struct_vs_apache_avro"]),
            (Operation::Decode, ["decode_vs_java", "decode_struct_vs_java", "decode_struct_vs_apache_avro"]),
            (Operation::Evolved, ["evolved_vs_java", "evolved_struct_vs_java", "evolved_vs_apache_avro"]),
        ] {
            let [java, values, structs, peer] =
                [Who::Java, Who::Values, Who::Structs, Who::Peer].map(|who| self.median(operation, who));
            // With a reader's schema the peer has no structs, so values are beside values.
            let beside_peer = if operation == Operation::Evolved { values } else { structs };
            let ratio = |name, value| Figure::new("avro", name, Ok(value), "ratio", Better::Lower);
            figures.push(ratio(names[0], values / java).goal(1.0).beside(JAVA));
            figures.push(ratio(names[1], structs / java).goal(1.0).beside(JAVA));
            figures.push(ratio(names[2], beside_peer / peer).beside(PEER));
        }
        for (name, operation, who) in TIMES {
            let time = self.median(operation, who);
            figures.push(Figure::new("avro", name, Ok(time), "ns", Better::Lower));
        }
        figures
    }
}

/// What the ratios are made of.
const TIMES: [(&str, Operation, Who); 12] = [
    ("encode_java_ns", Operation::Encode, Who::Java),
    ("encode_ns", Operation::Encode, Who::Values),
    ("encode_struct_ns", Operation::Encode, Who::Structs),
    ("encode_apache_avro_ns", Operation::Encode, Who::Peer),
    ("decode_java_ns", Operation::Decode, Who::Java),
    ("decode_ns", Operation::Decode, Who::Values),
    ("decode_struct_ns", Operation::Decode, Who::Structs),
    ("decode_apache_avro_ns", Operation::Decode, Who::Peer),
    ("evolved_java_ns", Operation::Evolved, Who::Java),
    ("evolved_ns", Operation::Evolved, Who::Values),
    ("evolved_struct_ns", Operation::Evolved, Who::Structs),
    ("evolved_apache_avro_ns", Operation::Evolved, Who::Peer),
];
