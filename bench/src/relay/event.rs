//! The events that everybody sends: the same bytes whoever carries them.

use super::size::{KEYS, WRITERS};

/// The bytes of a payload.
pub(crate) const PAYLOAD_BYTES: usize = 300;

/// The headers beside `id`.
pub(crate) const TYPE: (&str, &str) = ("ce_type", "waybill.export.succeeded");
pub(crate) const SOURCE: (&str, &str) = ("ce_source", "urn:waybill:exports");
pub(crate) const VERSION: (&str, &str) = ("ce_specversion", "1.0");

/// The header that Debezium's router gives the event's id, and so everybody.
pub(crate) const ID: &str = "id";

/// The digits of the number at a payload's beginning.
const NUMBER_DIGITS: usize = 12;
const NUMBER_BEFORE: &str = "{\"number\":\"";

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) id: String,
    pub(crate) key: String,
    pub(crate) payload: Vec<u8>,
}

impl Event {
    /// The event of that number. A writer whose number is this one's modulo [`WRITERS`] has its key to itself.
    pub(crate) fn of(number: u64) -> Self {
        let writer = number % WRITERS;
        // A stride that is prime to the keys of a writer walks through all of them.
        let of_writer = (number / WRITERS).wrapping_mul(1_009) % (KEYS / WRITERS);
        let key = format!("export-{:08}", of_writer * WRITERS + writer);
        Self { id: format!("{number:08x}-77b1-7000-8000-{number:012x}"), payload: payload(number, &key), key }
    }

    /// The number in a payload.
    pub(crate) fn number_of(payload: &[u8]) -> Option<u64> {
        let digits = payload.get(NUMBER_BEFORE.len()..NUMBER_BEFORE.len() + NUMBER_DIGITS)?;
        std::str::from_utf8(digits).ok()?.parse().ok()
    }
}

/// A document as such facts are: names and values that repeat, and about as much again that does not.
fn payload(number: u64, key: &str) -> Vec<u8> {
    let mut text = format!(
        "{NUMBER_BEFORE}{number:0NUMBER_DIGITS$}\",\"export_id\":\"{key}\",\"tenant_id\":\"tenant-{:03}\",\
         \"state\":\"succeeded\",\"format\":\"csv\",\"rows\":{},\"sha256\":\"",
        number % 200,
        number % 99_991,
    );
    let mut state = number;
    while text.len() < PAYLOAD_BYTES {
        state = mixed(state);
        text.push_str(&format!("{state:016x}"));
    }
    text.truncate(PAYLOAD_BYTES - 2);
    text.push_str("\"}");
    text.into_bytes()
}

/// SplitMix64: the same for everybody and every time.
fn mixed(state: u64) -> u64 {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_payload_has_its_size_and_says_its_number() {
        for number in [0, 1, 999_999, 123_456_789] {
            let event = Event::of(number);
            assert_eq!(event.payload.len(), PAYLOAD_BYTES);
            assert_eq!(Event::number_of(&event.payload), Some(number));
        }
    }

    #[test]
    fn every_key_comes_and_has_one_writer() {
        let writer_of = |key: &str| key[7..].parse::<u64>().unwrap() % WRITERS;
        let events: Vec<Event> = (0..KEYS).map(Event::of).collect();
        let keys: BTreeSet<&str> = events.iter().map(|event| event.key.as_str()).collect();
        assert_eq!(keys.len() as u64, KEYS);
        for (number, event) in events.iter().enumerate() {
            assert_eq!(writer_of(&event.key), number as u64 % WRITERS);
        }
    }
}
