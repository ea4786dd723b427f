//! What is written is what is read.

use jiff::Timestamp;
use proptest::prelude::*;
use waybill_contract::{Carried, CloudEvent, CommandReason, decode_command, decode_fact};

use crate::examples::{any_fact, command, headers, schemas, succeeded};

proptest! {
    #[test]
    fn any_fact_is_read_as_it_was_written(fact in any_fact()) {
        let message = fact.encode(schemas()).unwrap();
        prop_assert_eq!(&message.event_id, &fact.event_id);
        prop_assert_eq!(message.key.as_slice(), fact.export.export_id.as_str().as_bytes());
        let read = decode_fact(schemas(), headers(&message), Some(&message.payload)).unwrap();
        prop_assert_eq!(read, fact);
    }

    #[test]
    fn one_fact_has_one_encoding(fact in any_fact()) {
        prop_assert_eq!(fact.encode(schemas()).unwrap(), fact.clone().encode(schemas()).unwrap());
    }
}

#[test]
fn every_command_is_read_as_it_was_written() {
    for reason in CommandReason::ALL {
        let mut written = command();
        written.reason = reason;
        let message = written.encode(schemas()).unwrap();
        assert_eq!(message.key, written.export_id.as_str().as_bytes());
        assert_eq!(message.event_id, written.command_id);
        assert_eq!(decode_command(schemas(), headers(&message), Some(&message.payload)).unwrap(), written);
    }
}

#[test]
fn a_fact_in_structured_mode_is_the_same_fact() {
    let message = succeeded().encode(schemas()).unwrap();
    let event = CloudEvent::read(headers(&message), Some(&message.payload)).unwrap();
    let Carried { headers, payload } = event.to_structured();
    let headers = headers.iter().map(|(name, value)| (name.as_str(), value.as_deref()));
    assert_eq!(decode_fact(schemas(), headers, payload.as_deref()).unwrap(), succeeded());
}

#[test]
fn times_are_kept_to_the_microsecond() {
    let mut fact = succeeded();
    fact.time = Timestamp::from_nanosecond(1_999_999_999_123_456_789).unwrap();
    let message = fact.encode(schemas()).unwrap();
    let read = decode_fact(schemas(), headers(&message), Some(&message.payload)).unwrap();
    assert_eq!(read.time.to_string(), "2033-05-18T03:33:19.123456Z");
}

#[test]
fn headers_of_others_extensions_and_another_spelling_of_the_media_type_are_let_pass() {
    let message = succeeded().encode(schemas()).unwrap();
    let mut given = headers(&message);
    given.retain(|(name, _)| *name != "content-type");
    given.push(("Content-Kind", None));
    given.push(("binary", Some(b"\xff\x00")));
    given.push(("ce_traceparent", Some(b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")));
    given.push(("content-type", Some(b"Application/VND.confluent.avro; q=1")));
    assert_eq!(decode_fact(schemas(), given, Some(&message.payload)).unwrap(), succeeded());
}
