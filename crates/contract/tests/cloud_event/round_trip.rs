//! What is read is written byte for byte, whichever mode it came in.

use proptest::prelude::*;
use waybill_contract::{CloudEvent, Data};

use crate::events::{any_event, read, read_back, read_structured, texts};

proptest! {
    #[test]
    fn a_binary_record_is_written_as_it_was_read(event in any_event()) {
        let carried = event.to_binary();
        let again = read_back(&carried).unwrap().to_binary();
        prop_assert_eq!(again, carried);
    }

    #[test]
    fn a_structured_record_is_written_as_it_was_read(event in any_event()) {
        let carried = event.to_structured();
        let read = read_back(&carried).unwrap();
        prop_assert_eq!(read.to_structured(), carried);
        prop_assert_eq!(texts(&read), texts(&event));
    }

    #[test]
    fn an_event_keeps_its_identity_its_attributes_and_its_bytes_from_mode_to_mode(event in any_event()) {
        let there = read_back(&event.to_structured()).unwrap();
        let back = read_back(&there.to_binary()).unwrap();
        prop_assert_eq!(back.event_key(), event.event_key());
        prop_assert_eq!(back.data().map(Data::as_bytes), event.data().map(Data::as_bytes));
        prop_assert_eq!(texts(&back), texts(&event));
    }
}

#[test]
fn a_time_keeps_its_offset_and_its_digits_and_a_schema_its_spelling() {
    let headers = [
        ("ce_specversion", "1.0"),
        ("ce_id", " 1 "),
        ("ce_source", "HTTP://Example.COM:80/%7eA/../b"),
        ("ce_type", "t"),
        ("ce_time", "2026-03-01t20:00:00.100000000001+08:00"),
        ("ce_dataschema", "HTTPS://Example.COM/%7eschema#A"),
    ];
    let event = read(&headers, None).unwrap();
    for written in [event.to_binary(), event.to_structured()] {
        let again = read_back(&written).unwrap();
        assert_eq!(again.time().unwrap().as_str(), "2026-03-01t20:00:00.100000000001+08:00");
        assert_eq!(again.data_schema(), Some("HTTPS://Example.COM/%7eschema#A"));
        assert_eq!((again.id(), again.source()), (" 1 ", "HTTP://Example.COM:80/%7eA/../b"));
    }
    assert_eq!(event.time().unwrap().instant().to_string(), "2026-03-01T12:00:00.1Z");
}

#[test]
fn json_data_keeps_every_digit_and_space_inside_it() {
    let data = r#"{"b": 1.10,  "a": 123456789012345678901234567890, "b": 1E-400, "c": "\u0041"}"#;
    let json = format!(r#"{{"specversion":"1.0","id":"1","source":"/s","type":"t","data":{data}}}"#);
    let event = read_structured(&json).unwrap();
    assert_eq!(event.data(), Some(&Data::Json(data.to_owned())));
    assert_eq!(event.to_structured().payload.unwrap(), json.as_bytes());
    // In binary mode the content type that JSON implied is said.
    let binary = event.to_binary();
    assert_eq!(
        binary.headers.last().unwrap(),
        &("content-type".to_owned(), Some(b"application/json".to_vec()))
    );
    assert_eq!(binary.payload.unwrap(), data.as_bytes());
}

#[test]
fn bytes_go_into_json_as_they_are_where_they_are_json_and_as_base64_elsewhere() {
    let of = |content_type: &str, bytes: &[u8]| -> String {
        let mut headers = crate::events::sound();
        headers.retain(|(name, _)| *name != "content-type");
        headers.push(("content-type", content_type));
        let event: CloudEvent = read(&headers, Some(bytes)).unwrap();
        let written = event.to_structured();
        assert_eq!(read_back(&written).unwrap().data().unwrap().as_bytes(), bytes);
        String::from_utf8(written.payload.unwrap()).unwrap()
    };
    assert!(of("application/json", b"{\"a\": 1.0}").ends_with(r#","data":{"a": 1.0}}"#));
    for (content_type, bytes) in [
        ("application/json", b" {}".as_slice()),
        ("application/json", b"{"),
        ("text/plain", b"text"),
        ("a/b+json", b""),
    ] {
        assert!(of(content_type, bytes).contains(r#","data_base64":""#), "{content_type} {bytes:?}");
    }
}
