//! Each way in which a record can break the contract has a reason of its own.

use std::collections::BTreeSet;
use std::error::Error;

use waybill_contract::{
    ATTRIBUTE_BYTES_MAX, ContractError, Fact, Message, PAYLOAD_BYTES_MAX, codes, decode_command, decode_fact,
};
use waybill_domain::export::NotifyTarget;
use waybill_domain::ids::ExportId;
use waybill_domain::job::{FactKind, JobState};

use crate::examples::{EXPORT, command, headers, schemas, succeeded};

const REQUIRED: [&str; 7] =
    ["content-type", "ce_specversion", "ce_type", "ce_source", "ce_id", "ce_time", "ce_subject"];

fn message() -> Message {
    succeeded().encode(schemas()).unwrap()
}

fn refused(message: &Message) -> &'static str {
    decode_fact(schemas(), headers(message), Some(&message.payload)).unwrap_err().reason()
}

/// The reason for a sound message with one header's value changed.
fn refused_with(header: &str, value: Option<&[u8]>) -> &'static str {
    let mut message = message();
    let slot = message.headers.iter_mut().find(|(name, _)| name == header).unwrap();
    slot.1 = value.map(<[u8]>::to_vec);
    refused(&message)
}

fn refused_payload(payload: Option<&[u8]>) -> ContractError {
    decode_fact(schemas(), headers(&message()), payload).unwrap_err()
}

#[test]
fn a_required_attribute_that_is_absent_empty_null_doubled_or_not_text() {
    for header in REQUIRED {
        let mut without = message();
        without.headers.retain(|(name, _)| name != header);
        assert_eq!(refused(&without), codes::ATTRIBUTE_MISSING, "{header}");

        let mut doubled = message();
        let copy = doubled.headers.iter().find(|(name, _)| name == header).unwrap().clone();
        doubled.headers.push(copy);
        assert_eq!(refused(&doubled), codes::ATTRIBUTE_DUPLICATED, "{header}");

        assert_eq!(refused_with(header, Some(b"")), codes::ATTRIBUTE_EMPTY, "{header}");
        assert_eq!(refused_with(header, None), codes::ATTRIBUTE_NULL, "{header}");
        assert_eq!(refused_with(header, Some(b"\xe4\xb8")), codes::ATTRIBUTE_NOT_UTF8, "{header}");
        assert_eq!(refused_with(header, Some(b"a\0b")), codes::ATTRIBUTE_CHARACTER_EXCLUDED, "{header}");
        let long = "a".repeat(ATTRIBUTE_BYTES_MAX + 1);
        assert_eq!(refused_with(header, Some(long.as_bytes())), codes::ATTRIBUTE_TOO_LONG, "{header}");
    }
}

#[test]
fn an_attribute_with_another_value_than_the_contract_has() {
    assert_eq!(refused_with("ce_specversion", Some(b"0.3")), codes::SPECVERSION_UNSUPPORTED);
    assert_eq!(refused_with("ce_specversion", Some(b"1.0.2")), codes::SPECVERSION_UNSUPPORTED);
    assert_eq!(refused_with("ce_source", Some(b"two words")), codes::SOURCE_NOT_A_URI);
    assert_eq!(refused_with("ce_time", Some(b"yesterday")), codes::TIME_NOT_RFC3339);
    assert_eq!(refused_with("ce_type", Some(b"waybill.export.process")), codes::EVENT_TYPE_UNKNOWN);
    assert_eq!(refused_with("ce_subject", Some(b"exp_1")), codes::SUBJECT_MISMATCH);
    assert_eq!(refused_with("content-type", Some(b"application/json")), codes::CONTENT_TYPE_UNSUPPORTED);
    let structured = b"application/cloudevents+json";
    assert_eq!(refused_with("content-type", Some(structured)), codes::STRUCTURED_NOT_JSON);
    let mut misplaced = message();
    misplaced.headers.push(("ce_datacontenttype".to_owned(), Some(b"application/json".to_vec())));
    assert_eq!(refused(&misplaced), codes::CONTENT_TYPE_MISPLACED);
}

#[test]
fn a_value_that_is_not_in_the_wire_format() {
    assert_eq!(refused_payload(None).reason(), codes::PAYLOAD_NULL);
    assert_eq!(refused_payload(Some(b"")).reason(), codes::PAYLOAD_TOO_SHORT);
    assert_eq!(refused_payload(Some(b"\0\0\0\0")).reason(), codes::PAYLOAD_TOO_SHORT);
    assert_eq!(refused_payload(Some(b"{}")).reason(), codes::MAGIC_BYTE_UNKNOWN);
    let large = vec![0; PAYLOAD_BYTES_MAX + 1];
    assert_eq!(refused_payload(Some(&large)).reason(), codes::PAYLOAD_TOO_LARGE);
    assert_eq!(refused_payload(Some(b"\0\0\0\0\x01")).reason(), codes::DATA_TRUNCATED);
    // A text of -1 bytes.
    assert_eq!(refused_payload(Some(b"\0\0\0\0\x01\x01")).reason(), codes::DATA_MALFORMED);
    let command = command().encode(schemas()).unwrap();
    assert_eq!(refused_payload(Some(&command.payload)).reason(), codes::SCHEMA_UNEXPECTED);
}

#[test]
fn a_record_with_an_unknown_schema_id_waits_and_nothing_else_does() {
    let unknown = refused_payload(Some(b"\0\0\0\x01\x02"));
    assert_eq!(unknown.reason(), codes::SCHEMA_ID_UNKNOWN);
    assert!(unknown.must_wait());
    assert!(matches!(unknown, ContractError::UnknownSchemaId(unknown) if unknown.id == 0x0102));
    assert!(!refused_payload(None).must_wait());
}

#[test]
fn a_command_of_another_type_or_about_another_export() {
    let schemas = schemas();
    let message = command().encode(schemas).unwrap();
    let refused_with = |header: &str, value: &'static [u8]| {
        let replaced = headers(&message).into_iter().map(|(name, old)| {
            let value = if name == header { Some(value) } else { old };
            (name, value)
        });
        decode_command(schemas, replaced, Some(&message.payload)).unwrap_err().reason()
    };
    assert_eq!(refused_with("ce_type", b"waybill.export.requested"), codes::EVENT_TYPE_UNKNOWN);
    assert_eq!(refused_with("ce_subject", b"exp_0"), codes::SUBJECT_MISMATCH);
}

/// What is wrong with a fact, for the writer that is about to commit it: the error and its causes.
fn unwritable(change: impl FnOnce(&mut Fact)) -> String {
    let mut fact = succeeded();
    change(&mut fact);
    let error = fact.encode(schemas()).unwrap_err();
    assert_eq!(error.reason(), codes::EVENT_NOT_ENCODABLE);
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

#[test]
fn a_fact_that_no_reader_would_accept_is_not_written() {
    let failures = [
        ("version", unwritable(|fact| fact.export.version = 0)),
        ("fence", unwritable(|fact| fact.export.fence = -1)),
        ("rows", unwritable(|fact| fact.export.rows = Some(-1))),
        ("bytes", unwritable(|fact| fact.export.bytes = None)),
        ("sha256", unwritable(|fact| fact.export.sha256 = Some("9F86".to_owned()))),
        ("state", unwritable(|fact| fact.export.state = JobState::Running)),
        ("finished_at", unwritable(|fact| fact.export.finished_at = None)),
        ("dataset", unwritable(|fact| fact.export.dataset.clear())),
        ("name", unwritable(|fact| fact.export.name = Some("a\0b".to_owned()))),
        ("labels", unwritable(|fact| drop(fact.export.labels.insert("\0".to_owned(), String::new())))),
        (
            "notify",
            unwritable(|fact| {
                let NotifyTarget { channel, .. } = fact.export.notify[0];
                fact.export.notify.push(NotifyTarget { channel, target: "\0".to_owned() });
            }),
        ),
        (
            "failure_code",
            unwritable(|fact| {
                fact.kind = FactKind::Failed;
                fact.export.state = JobState::Failed;
            }),
        ),
        (
            "result_id",
            unwritable(|fact| {
                fact.export.result_id = None;
                (fact.export.rows, fact.export.bytes, fact.export.sha256) = (None, None, None);
            }),
        ),
        ("source", unwritable(|fact| fact.source = "not a uri".to_owned())),
        ("id", unwritable(|fact| fact.event_id.clear())),
        ("1000000", unwritable(|fact| fact.export.name = Some("長".repeat(PAYLOAD_BYTES_MAX / 2)))),
    ];
    for (named, error) in failures {
        assert!(error.contains(named), "{error} does not name {named}");
    }
}

#[test]
fn a_sound_encoding_of_an_unsound_fact_is_parked_under_the_field() {
    // The same fact about another tenant's kind of id: the texts have the same length, so only the field changes.
    let mut message = message();
    let at = message.payload.windows(4).position(|window| window == b"ten_").unwrap();
    message.payload[at..at + 4].copy_from_slice(b"exp_");
    assert_eq!(refused(&message), codes::FIELD_INVALID);
    let mut renamed = succeeded();
    renamed.export.export_id = ExportId::parse(&EXPORT.replace("0001", "0009")).unwrap();
    let other = renamed.encode(schemas()).unwrap();
    let mixed = Message { payload: other.payload, ..message };
    assert_eq!(refused(&mixed), codes::SUBJECT_MISMATCH);
}

#[test]
fn a_fact_says_what_its_type_promises() {
    let requested: Option<&[u8]> = Some(b"waybill.export.requested");
    assert_eq!(refused_with("ce_type", requested), codes::FIELD_INVALID);
}

#[test]
fn every_code_has_its_page() {
    let codes: BTreeSet<&str> = include_str!("../../src/codes.rs")
        .lines()
        .filter_map(|line| line.strip_prefix("pub const ")?.split('"').nth(1))
        .collect();
    assert!(codes.len() > 20);
    for code in codes {
        let page = format!("{}/../../docs/errors/{code}.md", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&page).unwrap_or_default();
        assert!(text.starts_with(&format!("# {code}\n")), "{page} is missing or has another title");
    }
}
