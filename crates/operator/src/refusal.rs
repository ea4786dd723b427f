//! What is refused, in the same words whoever says it.

use waybill_outbox::parked::{Rejection, State};

use crate::codes;

/// What all occurrences of one refusal share.
#[derive(Debug, PartialEq, Eq)]
pub struct Wording {
    /// The slug.
    pub code: &'static str,
    /// The same in a few words.
    pub title: &'static str,
    /// What to do.
    pub next: &'static str,
}

/// The question itself is wrong.
pub const REQUEST_INVALID: Wording = Wording {
    code: codes::REQUEST_INVALID,
    title: "The request is not valid",
    next: "Correct what `errors` names, and send it again.",
};
/// There is no such row.
pub const PARKED_NOT_FOUND: Wording = Wording {
    code: codes::PARKED_NOT_FOUND,
    title: "There is no such parked row",
    next: "See `waybill parked list`.",
};
/// The row was settled.
pub const PARKED_SETTLED: Wording = Wording {
    code: codes::PARKED_SETTLED,
    title: "The parked row is settled",
    next: "Read the row; what was sent or discarded stays so.",
};
/// The row would overtake another one.
pub const PARKED_BEHIND: Wording = Wording {
    code: codes::PARKED_BEHIND,
    title: "The parked row waits behind another",
    next: "Decide about the row in `refused_seq` first; this one goes on by itself after it.",
};
/// There is no such topic.
pub const TOPIC_UNRECORDED: Wording = Wording {
    code: codes::TOPIC_UNRECORDED,
    title: "There is no such topic",
    next: "Check the topic's whole name, prefix included.",
};

/// Why something is not shown or decided. Its text speaks of this one occurrence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A part of the question is missing, malformed or out of its bounds.
    #[error("{field} {problem}.")]
    Invalid {
        /// Which part.
        field: &'static str,
        /// What is wrong with it, and what would be right.
        problem: String,
    },
    /// No row of this number was ever parked.
    #[error("No row {seq:?} of the outbox was ever parked.")]
    NotParked {
        /// The number as it was written.
        seq: String,
    },
    /// The row is left as it is.
    #[error("Row {seq} is left as it is: {rejection}.")]
    Rejected {
        /// The row.
        seq: i64,
        /// Why.
        rejection: Rejection,
    },
    /// Nothing was ever sent to a topic of this name.
    #[error("Nothing was ever sent to a topic {topic:?}.")]
    TopicUnrecorded {
        /// The name.
        topic: String,
    },
}

impl Refusal {
    /// What this kind of refusal is called, and what to do about it.
    #[must_use]
    pub const fn wording(&self) -> &'static Wording {
        match self {
            Self::Invalid { .. } => &REQUEST_INVALID,
            Self::NotParked { .. } => &PARKED_NOT_FOUND,
            Self::Rejected { rejection: Rejection::Settled { .. }, .. } => &PARKED_SETTLED,
            Self::Rejected { rejection: Rejection::Behind { .. }, .. } => &PARKED_BEHIND,
            Self::TopicUnrecorded { .. } => &TOPIC_UNRECORDED,
        }
    }

    pub(crate) fn not_parked(seq: &(impl ToString + ?Sized)) -> Self {
        Self::NotParked { seq: seq.to_string() }
    }

    pub(crate) fn invalid(field: &'static str, problem: impl Into<String>) -> Self {
        Self::Invalid { field, problem: problem.into() }
    }

    pub(crate) fn no_state() -> Self {
        let words: Vec<&str> = State::ALL.iter().map(|state| state.as_str()).collect();
        Self::invalid("state", format!("must be one of {}", words.join(", ")))
    }
}
