//! What the cursor has passed although Kafka did not acknowledge it: rows that are parked, and the holds they wait under.
//!
//! A row that Kafka refuses for itself is parked, and the later rows of its key wait behind it in order; a topic that
//! takes nothing holds its own rows and no others. Every write here is the active relay's, under its fence. Deliberately
//! absent: Kafka, and every decision about a refused row: that is a person's, in [`crate::parked`].

mod relay;
mod topic;

pub use relay::{
    KEY_DIGEST_BYTES, OpenHold, Refused, count_parked, end, explain, load, open_row, open_topic, page, park,
    refuse, requested, settle, stand, transfer,
};
pub use topic::{TopicRecord, accept_topic, record_topic, recorded_id, topics};

/// Why rows wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// One row without a key was refused: nothing waits behind it.
    Row,
    /// A row was refused, and the later ones of its topic and key wait.
    Key,
    /// Kafka takes nothing for the topic.
    Topic,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 3] = [Self::Row, Self::Key, Self::Topic];

    /// As the column `scope` has it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Row => "row",
            Self::Key => "key",
            Self::Topic => "topic",
        }
    }

    /// The scope of that name. The column's CHECK allows no other.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == word)
    }
}
