//! Where a relay stands, and the record of a move.

use super::snapshot::Snapshot;

/// The rows that `to` sees and `from` does not, up to `after_seq` acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Everything that this snapshot sees was acknowledged by Kafka.
    pub from: Snapshot,
    /// A snapshot that Postgres gave and that was durable before any row of it was used.
    pub to: Snapshot,
    /// The highest `seq` up to which this window's rows were acknowledged; `floor_seq` before the first.
    pub after_seq: i64,
    /// The last row of before a restore, 0 without one: no window holds a row up to there, but while such rows are sent
    /// again.
    pub floor_seq: i64,
    /// While rows of before a restore are sent again, the one after which they begin: the window holds no others then.
    pub resend_after_seq: Option<i64>,
}

impl Window {
    /// Whether no row of it was acknowledged yet.
    pub fn is_at_start(&self) -> bool {
        self.after_seq <= self.resend_after_seq.unwrap_or(self.floor_seq)
    }

    /// Whether it holds rows of before a restore, and no others.
    pub fn is_resend(&self) -> bool {
        self.resend_after_seq.is_some()
    }

    /// Whether nothing is left to send: the next thing to do is to open a window.
    pub fn is_drained(&self) -> bool {
        self.from == self.to
    }
}

/// What a move of the cursor says was acknowledged: the rows after the window's `after_seq` up to `last_seq`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batch {
    /// The last row's `seq`.
    pub last_seq: i64,
    /// How many rows.
    pub events: i32,
}
