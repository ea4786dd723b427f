//! What Java says beside what we say.

use std::collections::HashSet;

use serde_json::{Value, json};
use waybill_avro_evolution::{
    Docs, Incompatibility, Kind, LogicalType, Schema, SchemaError, Type, TypeId, incompatibilities,
};

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

/// All that can be said about a text, in the form of Java's answer.
pub(crate) fn reading(text: &str, references: &[String]) -> Result<Value, SchemaError> {
    let mut known: Vec<Schema> = Vec::new();
    for reference in references {
        known.push(Schema::parse_with(reference, &known)?);
    }
    let schema = Schema::parse_with(text, &known)?;
    check_normal_forms(&schema, &known);
    let sha256: String = schema.fingerprint_sha256().iter().map(|byte| format!("{byte:02x}")).collect();
    let mut logical = Vec::new();
    every_type_once(&schema, schema.root(), &mut HashSet::new(), &mut |ty| {
        logical.push(ty.logical.map_or("", LogicalType::as_str));
    });
    Ok(json!({
        "text": read(&schema.to_json()),
        "canonical": schema.canonical_form(),
        "crc64": format!("{:x}", schema.fingerprint_crc64()),
        "sha256": sha256,
        "logical": logical,
    }))
}

/// A normal form reads back as the same schema, and is its own normal form.
fn check_normal_forms(schema: &Schema, known: &[Schema]) {
    for docs in [Docs::Kept, Docs::Dropped] {
        let normal = schema.normalize(docs);
        let again = Schema::parse(&normal)
            .unwrap_or_else(|error| panic!("{error}: {normal} of {schema:?}, {known:?}"));
        assert_eq!(again.normalize(docs), normal);
        assert_eq!(again.canonical_form(), schema.canonical_form());
        if docs == Docs::Kept {
            assert_eq!(read(&again.to_json()), read(&schema.to_json()), "{normal}");
        }
    }
}

fn every_type_once<'s>(
    schema: &'s Schema,
    id: TypeId,
    known: &mut HashSet<&'s str>,
    visit: &mut impl FnMut(&'s Type),
) {
    let ty = &schema[id];
    visit(ty);
    match &ty.kind {
        Kind::Array(part) | Kind::Map(part) => every_type_once(schema, *part, known, visit),
        Kind::Union(branches) => {
            branches.iter().for_each(|branch| every_type_once(schema, *branch, known, visit));
        }
        Kind::Record(record) if known.insert(record.name.full()) => {
            record.fields.iter().for_each(|field| every_type_once(schema, field.ty, known, visit));
        }
        Kind::Record(_) | Kind::Primitive(_) | Kind::Enum(_) | Kind::Fixed(_) => {}
    }
}

/// As a value, so that the notation of numbers and the order of attributes make no difference.
pub(crate) fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}
