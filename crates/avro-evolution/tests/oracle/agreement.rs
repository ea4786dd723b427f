//! What Java says beside what we say.

use serde_json::{Value, json};
use waybill_avro_evolution::{Incompatibility, Schema, incompatibilities};

/// The question what keeps the reader from reading.
pub(crate) fn compare(reader: &str, writer: &str) -> Value {
    json!({"ask": "compare", "reader": reader, "writer": writer})
}

/// The question what the schema is.
pub(crate) fn parse(schema: &str, references: &[String]) -> Value {
    json!({"ask": "parse", "schema": schema, "references": references})
}

/// An answer, reduced to what two libraries have to agree about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Verdict {
    /// Whether the reader's and the writer's schema are accepted; not both are.
    Refused { reader: bool, writer: bool },
    /// The question has no answer.
    Unanswered,
    /// What is incompatible: kind, location, message, the reader's part and the writer's.
    Reasons(Vec<[Value; 5]>),
}

pub(crate) fn javas(answer: &Value) -> Verdict {
    if answer.get("reader").is_some() || answer.get("writer").is_some() {
        return Verdict::Refused {
            reader: answer.get("reader").is_none(),
            writer: answer.get("writer").is_none(),
        };
    }
    let Some(Value::Array(reasons)) = answer.get("reasons") else { return Verdict::Unanswered };
    let reason = |reason: &Value| {
        let text = |at: usize| reason[at].as_str().expect("a text").to_owned();
        [text(0).into(), text(1).into(), text(2).into(), read(&text(3)), read(&text(4))]
    };
    Verdict::Reasons(reasons.iter().map(reason).collect())
}

pub(crate) fn ours(reader: &str, writer: &str) -> Verdict {
    let (reader, writer) = (Schema::parse(reader), Schema::parse(writer));
    let (reader, writer) = match (reader, writer) {
        (Ok(reader), Ok(writer)) => (reader, writer),
        (reader, writer) => return Verdict::Refused { reader: reader.is_ok(), writer: writer.is_ok() },
    };
    let Ok(found) = incompatibilities(&reader, &writer) else { return Verdict::Unanswered };
    let reason = |found: &Incompatibility| {
        let parts = [reader.fragment(found.reader), writer.fragment(found.writer)].map(|text| read(&text));
        let [reader, writer] = parts;
        [
            found.kind.as_str().into(),
            found.location.as_str().into(),
            found.message.as_str().into(),
            reader,
            writer,
        ]
    };
    Verdict::Reasons(found.iter().map(reason).collect())
}

/// As a value, so that the notation of numbers and the order of attributes make no difference.
pub(crate) fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}
