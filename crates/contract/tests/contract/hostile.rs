//! Whatever the bytes are, the answer is an error with a reason, never a panic. Lengths that are only claimed have a test of
//! their own.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::Index;
use waybill_contract::{codes, decode_command, decode_fact};

use crate::examples::{any_fact, headers, schemas, succeeded};

const FACT_SCHEMA_ID: u8 = 1;

fn header_name() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("content-type".to_owned()),
        Just("ce_specversion".to_owned()),
        Just("ce_id".to_owned()),
        Just("ce_source".to_owned()),
        Just("ce_type".to_owned()),
        Just("ce_time".to_owned()),
        Just("ce_subject".to_owned()),
        "ce_[a-z]{0,4}",
        any::<String>(),
    ]
}

proptest! {
    #[test]
    fn arbitrary_headers_and_values_end_in_a_reason(
        given in vec((header_name(), option::of(vec(any::<u8>(), 0..16))), 0..10),
        payload in option::of(vec(any::<u8>(), 0..64)),
    ) {
        let given: Vec<_> = given.iter().map(|(name, value)| (name.as_str(), value.as_deref())).collect();
        let fact = decode_fact(schemas(), given.iter().copied(), payload.as_deref()).unwrap_err();
        let command = decode_command(schemas(), given, payload.as_deref()).unwrap_err();
        prop_assert!(!fact.reason().is_empty() && !fact.to_string().is_empty());
        prop_assert!(!command.reason().is_empty() && !command.to_string().is_empty());
    }

    #[test]
    fn arbitrary_data_under_a_sound_envelope_ends_in_a_reason(data in vec(any::<u8>(), 0..400)) {
        let message = succeeded().encode(schemas()).unwrap();
        let payload = [&[0, 0, 0, 0, FACT_SCHEMA_ID], data.as_slice()].concat();
        let error = decode_fact(schemas(), headers(&message), Some(&payload)).unwrap_err();
        prop_assert!(!error.must_wait() && !error.reason().is_empty());
    }

    #[test]
    fn a_changed_byte_gives_a_sound_fact_or_a_reason(fact in any_fact(), at in any::<Index>(), byte in any::<u8>()) {
        let mut message = fact.encode(schemas()).unwrap();
        let at = at.index(message.payload.len());
        message.payload[at] = byte;
        match decode_fact(schemas(), headers(&message), Some(&message.payload)) {
            Ok(read) => prop_assert!(read.encode(schemas()).is_ok()),
            Err(error) => prop_assert!(!error.reason().is_empty()),
        }
    }

    #[test]
    fn a_value_cut_short_anywhere_is_refused(fact in any_fact(), at in any::<Index>()) {
        let message = fact.encode(schemas()).unwrap();
        let at = at.index(message.payload.len());
        let error = decode_fact(schemas(), headers(&message), Some(&message.payload[..at])).unwrap_err();
        let wanted = if at < 5 { codes::PAYLOAD_TOO_SHORT } else { codes::DATA_TRUNCATED };
        prop_assert_eq!(error.reason(), wanted);
    }

    #[test]
    fn a_value_with_anything_after_it_is_refused(fact in any_fact(), tail in vec(any::<u8>(), 1..8)) {
        let message = fact.encode(schemas()).unwrap();
        let payload = [message.payload.as_slice(), &tail].concat();
        let error = decode_fact(schemas(), headers(&message), Some(&payload)).unwrap_err();
        prop_assert_eq!(error.reason(), codes::DATA_TRAILING_BYTES);
    }
}
