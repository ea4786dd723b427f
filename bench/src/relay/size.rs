//! How much work a run does.

use std::time::Duration;

/// The keys that the events are of.
pub(crate) const KEYS: u64 = 50_000;

/// The partitions of every topic.
pub(crate) const PARTITIONS: i32 = 6;

/// The connections that write at a pace, each with the keys that are its own.
pub(crate) const WRITERS: u64 = 16;

/// What these writers together are to commit in a second.
pub(crate) const PACE_PER_SECOND: u64 = 10_000;

// Each key has one writer, so that its events are committed in their order.
const _: () = assert!(KEYS.is_multiple_of(WRITERS));

/// The size of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    /// Rows of one backlog.
    pub(crate) rows: u64,
    /// How often everything is measured. Odd, so that a median was really seen.
    pub(crate) rounds: usize,
    /// Rows of the backlog that only warms up.
    pub(crate) warm_up_rows: u64,
    /// The same for Debezium, whose code Java compiles while it runs: seen, five times slower before.
    pub(crate) peer_warm_up_rows: u64,
    /// How long the writers write at their pace, a round.
    pub(crate) pace_for: Duration,
}

impl Size {
    pub(crate) const FULL: Self = Self {
        rows: 1_000_000,
        rounds: 3,
        warm_up_rows: 100_000,
        peer_warm_up_rows: 300_000,
        pace_for: Duration::from_secs(20),
    };

    pub(crate) const QUICK: Self = Self {
        rows: 60_000,
        rounds: 1,
        warm_up_rows: 30_000,
        peer_warm_up_rows: 100_000,
        pace_for: Duration::from_secs(5),
    };

    /// Events of one paced round.
    pub(crate) fn paced_events(&self) -> u64 {
        PACE_PER_SECOND * self.pace_for.as_secs()
    }
}
