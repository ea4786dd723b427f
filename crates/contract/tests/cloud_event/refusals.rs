//! Whatever is no CloudEvent has a reason of its own, in both modes.

use waybill_contract::{ATTRIBUTE_BYTES_MAX, AttributeValue, CloudEvent, Data, Malformed, codes};

use crate::events::{STRUCTURED, read, read_back, read_structured, sound};

/// The reason for a sound record with one more header.
fn refused_with(name: &str, value: Option<&[u8]>) -> &'static str {
    let sound = sound();
    let headers = sound.iter().filter(|(other, _)| *other != name);
    let headers = headers.map(|(name, text)| (*name, Some(text.as_bytes()))).chain([(name, value)]);
    CloudEvent::read(headers, Some(b"{}")).expect_err(name).reason()
}

fn structured(members: &str) -> String {
    format!(r#"{{"specversion": "1.0", "id": "1", "source": "/s", "type": "t"{members}}}"#)
}

fn refused_structured(members: &str) -> &'static str {
    read_structured(&structured(members)).expect_err(members).reason()
}

#[test]
fn a_header_without_value_twice_or_not_utf8_is_no_attribute() {
    for name in ["content-type", "ce_id", "ce_specversion", "ce_someextension"] {
        assert_eq!(refused_with(name, None), codes::ATTRIBUTE_NULL, "{name}");
        assert_eq!(refused_with(name, Some(b"\xff")), codes::ATTRIBUTE_NOT_UTF8, "{name}");
        let mut twice = sound();
        twice.retain(|(other, _)| *other != name);
        twice.extend([(name, "1.0"), (name, "1.0")]);
        assert_eq!(read(&twice, None).unwrap_err().reason(), codes::ATTRIBUTE_DUPLICATED, "{name}");
    }
}

#[test]
fn each_attribute_is_what_cloud_events_says_it_is() {
    let cases: [(&str, &[u8], &str); 12] = [
        ("ce_id", b"", codes::ATTRIBUTE_EMPTY),
        ("ce_subject", b"", codes::ATTRIBUTE_EMPTY),
        ("ce_id", b"a\0b", codes::ATTRIBUTE_CHARACTER_EXCLUDED),
        ("ce_someextension", "\u{fffe}".as_bytes(), codes::ATTRIBUTE_CHARACTER_EXCLUDED),
        ("ce_specversion", b"1.0.2", codes::SPECVERSION_UNSUPPORTED),
        ("ce_source", b"two words", codes::SOURCE_NOT_A_URI),
        ("ce_dataschema", b"/no/scheme", codes::DATASCHEMA_NOT_A_URI),
        ("ce_time", b"2018-04-05 03:56:24Z", codes::TIME_NOT_RFC3339),
        ("content-type", b"xyz", codes::CONTENT_TYPE_UNSUPPORTED),
        ("ce_SomeExtension", b"x", codes::ATTRIBUTE_NAME_INVALID),
        ("ce_data", b"x", codes::ATTRIBUTE_NAME_INVALID),
        ("ce_datacontenttype", b"application/json", codes::CONTENT_TYPE_MISPLACED),
    ];
    for (name, value, reason) in cases {
        assert_eq!(refused_with(name, Some(value)), reason, "{name} {value:?}");
    }
    let long = "a".repeat(ATTRIBUTE_BYTES_MAX + 1);
    assert_eq!(refused_with("ce_id", Some(long.as_bytes())), codes::ATTRIBUTE_TOO_LONG);
    // An extension is bounded by its record alone, and may be empty.
    for text in [long.as_str(), ""] {
        let mut headers = sound();
        headers.push(("ce_someextension", text));
        let event = read(&headers, None).unwrap();
        assert_eq!(event.attribute("someextension"), Some(&AttributeValue::Text(text.to_owned())));
    }
}

#[test]
fn an_absent_attribute_is_named() {
    for name in ["specversion", "id", "source", "type"] {
        let mut without = sound();
        without.retain(|(header, _)| header.strip_prefix("ce_") != Some(name));
        let error = read(&without, None).unwrap_err();
        assert!(matches!(error, Malformed::AttributeMissing { attribute } if attribute == name), "{error}");
    }
}

#[test]
fn what_is_not_an_attribute_changes_nothing() {
    let mut headers = sound();
    headers.extend([
        ("CE_ID", "2"),
        ("ce-id", "3"),
        ("Content-Type", "text/plain"),
        ("traceparent", "00-1"),
        ("", ""),
    ]);
    assert_eq!(read(&headers, None).unwrap(), read(&sound(), None).unwrap());
}

#[test]
fn a_value_that_is_null_is_a_tombstone_and_not_an_empty_one() {
    let tombstone = read(&sound(), None).unwrap();
    assert_eq!((tombstone.data(), tombstone.to_binary().payload), (None, None));
    let empty = read(&sound(), Some(b"")).unwrap();
    assert_eq!((empty.data(), empty.to_binary().payload), (Some(&Data::Bytes(Vec::new())), Some(Vec::new())));
    assert_eq!(read(&[("content-type", STRUCTURED)], None).unwrap_err().reason(), codes::PAYLOAD_NULL);
    // Without data it is one in structured mode as well, where the value is never null.
    assert_eq!(read_back(&tombstone.to_structured()).unwrap(), tombstone);
}

#[test]
fn content_types_are_compared_without_regard_to_case() {
    for content_type in ["APPLICATION/CLOUDEVENTS+JSON", "application/CloudEvents+json;charset=UTF-8"] {
        assert_eq!(
            read(&[("content-type", content_type)], Some(structured("").as_bytes())).unwrap().id(),
            "1"
        );
    }
    for other in
        ["application/cloudevents", "Application/CloudEvents+Avro", "application/cloudevents-batch+json"]
    {
        let refused = read(&[("content-type", other)], Some(b"[]")).unwrap_err();
        assert_eq!(refused.reason(), codes::CONTENT_TYPE_UNSUPPORTED, "{other}");
    }
}

#[test]
fn a_structured_value_is_one_json_object_in_utf8() {
    for (case, value) in [
        ("empty", b"".as_slice()),
        ("an array", b"[]"),
        ("cut short", b"{\"id\": \"1\""),
        ("something behind it", b"{} {}"),
        ("not UTF-8", b"{\"id\": \"\xff\"}"),
        ("half a surrogate pair", b"{\"id\": \"\\ud800\"}"),
        ("a byte order mark", b"\xef\xbb\xbf{}"),
    ] {
        let error = read(&[("content-type", STRUCTURED)], Some(value)).expect_err(case);
        assert_eq!(error.reason(), codes::STRUCTURED_NOT_JSON, "{case}");
    }
}

#[test]
fn data_that_is_nested_deeply_is_passed_on_and_overflows_no_stack() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let event = read_structured(&structured(&format!(r#", "data": {deep}"#))).unwrap();
    let kept = event.data().unwrap().as_bytes() == deep.as_bytes();
    assert!(kept, "it is another text");
    assert_eq!(refused_structured(&format!(r#", "someextension": {deep}"#)), codes::ATTRIBUTE_TYPE_MISMATCH);
}

#[test]
fn a_member_is_there_once_and_of_its_type() {
    assert_eq!(refused_structured(r#", "id": "1""#), codes::ATTRIBUTE_DUPLICATED);
    assert_eq!(refused_structured(r#", "data": 1, "data": 1"#), codes::ATTRIBUTE_DUPLICATED);
    assert_eq!(refused_structured(r#", "data_base64": "", "data_base64": """#), codes::ATTRIBUTE_DUPLICATED);
    for value in ["1.0", "1e3", "2147483648", "[]", "{}"] {
        assert_eq!(
            refused_structured(&format!(r#", "someextension": {value}"#)),
            codes::ATTRIBUTE_TYPE_MISMATCH
        );
    }
    assert_eq!(refused_structured(r#", "subject": true"#), codes::ATTRIBUTE_TYPE_MISMATCH);
    assert_eq!(refused_structured(r#", "data_base64": 1"#), codes::ATTRIBUTE_TYPE_MISMATCH);
    assert_eq!(refused_structured(r#", "data_base64": "not base64""#), codes::DATA_NOT_BASE64);
    assert_eq!(refused_structured(r#", "datacontenttype": "text/plain", "data": {}"#), codes::DATA_UNFIT);
    let utf16 = r#", "datacontenttype": "text/plain; charset=utf-16", "data": "x""#;
    assert_eq!(refused_structured(utf16), codes::DATA_UNFIT);
    let null =
        read_structured(&structured(r#", "MyExtension": null, "data": null, "data_base64": null"#)).unwrap();
    assert_eq!(null.data(), Some(&Data::Json("null".to_owned())), "an explicit null is data");
}

#[test]
fn headers_beside_a_structured_event_say_the_same_or_the_record_is_refused() {
    let json = structured(r#", "someextension": 5"#);
    let beside = |name: &str, text: &str| {
        read(&[("content-type", STRUCTURED), (name, text), ("other", "x")], Some(json.as_bytes()))
    };
    for (name, text) in [("ce_id", "1"), ("ce_someextension", "5"), ("ce_specversion", "1.0")] {
        assert_eq!(beside(name, text).unwrap().id(), "1", "{name}");
    }
    for (name, text) in [("ce_id", "2"), ("ce_subject", "none"), ("ce_someextension", "05")] {
        assert_eq!(beside(name, text).unwrap_err().reason(), codes::ATTRIBUTE_CONTRADICTED, "{name}");
    }
}

#[test]
fn nobody_makes_an_event_that_nobody_could_read() {
    let sound = read(&sound(), None).unwrap();
    let mut attributes = sound.attributes().to_vec();
    attributes.retain(|attribute| attribute.name != "id");
    let refused = CloudEvent::new(attributes, None).unwrap_err();
    assert_eq!(refused.reason(), codes::ATTRIBUTE_MISSING);
}
