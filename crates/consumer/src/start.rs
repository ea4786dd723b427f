//! Where a partition starts: the one decision that must never be a guess.

use crate::codes;

/// A row of `positions`, as the partition's new holder read it under its own fence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredPosition {
    /// The id of the topic that the position belongs to.
    pub(crate) topic_id: String,
    /// The offset of the next record to apply.
    pub(crate) next_offset: i64,
}

/// What becomes of a partition that was assigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// Read on from this offset.
    Resume(i64),
    /// Store position 0, then read from there.
    RecordZero,
    /// Do not read; the code says why. Looked at again from time to time.
    Halt(&'static str),
}

/// Decides from what Postgres holds (`stored`, `bound_id`) and what Kafka says (`actual_id`, log start `low`, end of log
/// `high`) where a partition starts. A stored position always wins; without one, only a topic that the group was bound
/// to and whose log still begins at 0 is read from its beginning.
pub(crate) fn start_decision(
    stored: Option<&StoredPosition>,
    bound_id: Option<&str>,
    actual_id: Option<&str>,
    low: i64,
    high: i64,
) -> Start {
    let Some(actual_id) = actual_id else { return Start::Halt(codes::TOPIC_MISSING) };
    match (stored, bound_id) {
        (Some(position), _) if position.topic_id != actual_id => Start::Halt(codes::TOPIC_RECREATED),
        (Some(position), _) if (low..=high).contains(&position.next_offset) => {
            Start::Resume(position.next_offset)
        }
        (Some(_), _) => Start::Halt(codes::POSITION_OUT_OF_RANGE),
        (None, None) => Start::Halt(codes::TOPIC_UNBOUND),
        (None, Some(bound_id)) if bound_id != actual_id => Start::Halt(codes::TOPIC_RECREATED),
        (None, Some(_)) if low > 0 => Start::Halt(codes::POSITION_OUT_OF_RANGE),
        (None, Some(_)) => Start::RecordZero,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Start, StoredPosition, start_decision};
    use crate::codes;

    fn at(next_offset: i64) -> StoredPosition {
        StoredPosition { topic_id: "here".into(), next_offset }
    }

    #[test]
    fn a_stored_position_inside_the_log_is_where_reading_goes_on() {
        for next_offset in [3, 7, 10] {
            let start = start_decision(Some(&at(next_offset)), Some("here"), Some("here"), 3, 10);
            assert_eq!(start, Start::Resume(next_offset));
        }
    }

    #[test]
    fn a_position_below_the_log_start_or_above_the_end_halts() {
        for next_offset in [0, 2, 11] {
            let start = start_decision(Some(&at(next_offset)), Some("here"), Some("here"), 3, 10);
            assert_eq!(start, Start::Halt(codes::POSITION_OUT_OF_RANGE));
        }
    }

    #[test]
    fn a_topic_of_the_same_name_with_another_id_halts_whatever_the_offsets() {
        let stored = start_decision(Some(&at(5)), Some("there"), Some("there"), 0, 10);
        let bound = start_decision(None, Some("here"), Some("there"), 0, 10);
        assert_eq!(
            (stored, bound),
            (Start::Halt(codes::TOPIC_RECREATED), Start::Halt(codes::TOPIC_RECREATED))
        );
    }

    #[test]
    fn a_bound_topic_without_a_position_is_read_from_zero_only_while_its_log_begins_there() {
        assert_eq!(start_decision(None, Some("here"), Some("here"), 0, 10), Start::RecordZero);
        let halted = start_decision(None, Some("here"), Some("here"), 1, 10);
        assert_eq!(halted, Start::Halt(codes::POSITION_OUT_OF_RANGE));
    }

    #[test]
    fn without_a_binding_or_without_a_topic_nothing_is_read() {
        assert_eq!(start_decision(None, None, Some("here"), 0, 10), Start::Halt(codes::TOPIC_UNBOUND));
        assert_eq!(
            start_decision(Some(&at(5)), Some("here"), None, 0, 10),
            Start::Halt(codes::TOPIC_MISSING)
        );
    }

    proptest! {
        #[test]
        fn reading_starts_at_the_stored_offset_or_at_zero_and_never_anywhere_else(
            next in proptest::option::of(-2_i64..20),
            bound in proptest::option::of(prop_oneof!["here", "there"]),
            actual in proptest::option::of(prop_oneof!["here", "there"]),
            low in 0_i64..10,
            length in 0_i64..10,
        ) {
            let stored = next.map(at);
            match start_decision(stored.as_ref(), bound.as_deref(), actual.as_deref(), low, low + length) {
                Start::Resume(offset) => {
                    prop_assert_eq!(Some(offset), next);
                    prop_assert!((low..=low + length).contains(&offset));
                    prop_assert_eq!(actual.as_deref(), Some("here"));
                }
                Start::RecordZero => {
                    prop_assert_eq!((next, low), (None, 0));
                    prop_assert_eq!(bound, actual);
                }
                Start::Halt(_) => {}
            }
        }
    }
}
