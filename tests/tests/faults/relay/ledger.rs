//! What a log says after its repetitions were taken out: each event once, at its first place.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use waybill_testkit::Record;

/// The first occurrences of each key, in the order of the log.
pub(crate) struct Ledger {
    keys: BTreeMap<String, Vec<Entry>>,
    occurrences: HashMap<String, usize>,
}

/// An event where it stands first.
#[derive(Debug, Clone)]
struct Entry {
    event_id: String,
    version: i64,
    partition: i32,
    offset: i64,
}

/// Where a key's versions are not 1, 2, 3, …, with what stands before and after it.
#[derive(Debug)]
pub(crate) struct Violation {
    key: String,
    expected: i64,
    around: Vec<Entry>,
}

impl Ledger {
    /// Reads records by partition and offset, as `read_to_end` gives them.
    pub(crate) fn of(records: &[Record]) -> Self {
        let mut ledger = Self { keys: BTreeMap::new(), occurrences: HashMap::new() };
        for record in records {
            let event_id = record.header("ce_id").expect("an event of a test has an id").to_owned();
            let occurrences = ledger.occurrences.entry(event_id.clone()).or_default();
            *occurrences += 1;
            if *occurrences == 1 {
                let key = text(record.key.as_deref());
                let version = text(record.payload.as_deref()).parse().expect("a version");
                let entry = Entry { event_id, version, partition: record.partition, offset: record.offset };
                ledger.keys.entry(key).or_default().push(entry);
            }
        }
        ledger
    }

    /// Whether an event is there.
    pub(crate) fn holds(&self, event_id: &str) -> bool {
        self.occurrences.contains_key(event_id)
    }

    /// How many events are there.
    pub(crate) fn events(&self) -> usize {
        self.occurrences.len()
    }

    /// How many records are there that are no event's first one.
    pub(crate) fn repetitions(&self) -> usize {
        self.occurrences.values().map(|occurrences| occurrences - 1).sum()
    }

    /// How often each event is there, in the order of the versions of this key.
    pub(crate) fn occurrences(&self, key: &str) -> Vec<usize> {
        self.keys[key].iter().map(|entry| self.occurrences[&entry.event_id]).collect()
    }

    /// How many keys there are.
    pub(crate) fn keys(&self) -> usize {
        self.keys.len()
    }

    /// The first key that has a gap, an inversion or two events of one version.
    pub(crate) fn violation(&self) -> Option<Violation> {
        self.keys.iter().find_map(|(key, entries)| {
            let wrong = entries.iter().zip(1..).position(|(entry, expected)| entry.version != expected)?;
            let around = entries[wrong.saturating_sub(2)..entries.len().min(wrong + 3)].to_vec();
            Some(Violation { key: key.clone(), expected: i64::try_from(wrong).ok()? + 1, around })
        })
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: version {} should stand here:", self.key, self.expected)?;
        for Entry { event_id, version, partition, offset } in &self.around {
            write!(f, "\n  {partition}-{offset}: version {version}, event {event_id}")?;
        }
        Ok(())
    }
}

fn text(bytes: Option<&[u8]>) -> String {
    String::from_utf8(bytes.unwrap_or_default().to_vec()).expect("text")
}

#[test]
fn a_ledger_takes_repetitions_out_and_finds_gaps_inversions_and_second_events_of_a_version() {
    let record = |offset, id: &str, version: i64| Record {
        partition: 0,
        offset,
        key: Some(b"key".to_vec()),
        headers: vec![("ce_id".to_owned(), Some(id.as_bytes().to_vec()))],
        payload: Some(version.to_string().into_bytes()),
    };
    let log = |events: &[(&str, i64)]| {
        let records: Vec<Record> =
            events.iter().zip(0..).map(|((id, version), offset)| record(offset, id, *version)).collect();
        Ledger::of(&records)
    };
    let repeated = log(&[("a", 1), ("b", 2), ("a", 1), ("b", 2), ("c", 3)]);
    assert!(repeated.violation().is_none());
    assert_eq!((repeated.events(), repeated.repetitions()), (3, 2));
    for wrong in
        [&[("a", 1), ("c", 3)][..], &[("b", 2), ("a", 1)], &[("a", 1), ("b", 2), ("another", 2), ("c", 3)]]
    {
        assert!(log(wrong).violation().is_some(), "{wrong:?}");
    }
}
