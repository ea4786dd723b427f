use super::*;

fn event<'a>(headers: &'a [(String, Option<Vec<u8>>)], payload: Option<&'a [u8]>) -> Event<'a> {
    Event { topic: "waybill.export.events", key: Some(b"exp_1"), event_id: "evt_1", headers, payload }
}

#[test]
fn a_record_exactly_at_the_limit_is_accepted_and_one_byte_above_is_refused() {
    let room = EVENT_BYTES_MAX - record_bytes(&event(&[], None));
    let payload = vec![0; room + 1];
    assert!(check(&event(&[], Some(&payload[..room]))).is_ok());
    let refused = check(&event(&[], Some(&payload)));
    assert!(matches!(refused, Err(AppendError::TooLarge { bytes }) if bytes == EVENT_BYTES_MAX + 1));
}

#[test]
fn headers_count_towards_the_size() {
    let headers = [("trace".to_owned(), Some(vec![0; EVENT_BYTES_MAX]))];
    assert!(matches!(check(&event(&headers, None)), Err(AppendError::TooLarge { .. })));
}

#[test]
fn empty_and_null_values_a_null_key_and_a_tombstone_are_legal() {
    let headers = [("empty".to_owned(), Some(Vec::new())), ("null".to_owned(), None)];
    assert!(check(&Event { key: None, ..event(&headers, None) }).is_ok());
    assert!(check(&Event { key: Some(b""), ..event(&headers, Some(b"")) }).is_ok());
}

#[test]
fn a_header_name_that_no_client_could_send_is_refused() {
    for name in ["", "a\0b", "line\nbreak", &"n".repeat(HEADER_NAME_BYTES_MAX + 1)] {
        let headers = [(name.to_owned(), None)];
        assert!(matches!(check(&event(&headers, None)), Err(AppendError::HeaderName { .. })), "{name:?}");
    }
}

#[test]
fn a_topic_name_that_kafka_does_not_know_is_refused() {
    for topic in ["", ".", "..", "with space", "ünicode", &"t".repeat(TOPIC_CHARS_MAX + 1)] {
        let refused = check(&Event { topic, ..event(&[], None) });
        assert!(matches!(refused, Err(AppendError::Topic { .. })), "{topic:?}");
    }
    assert!(check(&Event { topic: &"t".repeat(TOPIC_CHARS_MAX), ..event(&[], None) }).is_ok());
}

#[test]
fn every_refusal_has_the_code_of_its_page() {
    let refused = check(&Event { event_id: "", ..event(&[], None) });
    assert_eq!(refused.err().and_then(|error| error.code()), Some(codes::OUTBOX_EVENT_REFUSED));
}
