//! What is on its way to Kafka, and how far the cursor may follow.

use std::collections::VecDeque;

use super::position::Batch;

/// The rows that were handed to the producer and are not yet behind the cursor, in the order of `seq`.
///
/// Kafka acknowledges partition by partition and so in any order across them. The cursor may only pass a row when
/// that row and every one before it is acknowledged.
#[derive(Debug, Default)]
pub struct Flight {
    rows: VecDeque<Entry>,
    unacknowledged: usize,
    bytes: u64,
    /// Ascending. The flight bounds them too: while the cursor cannot move, nothing can be read either.
    settled: VecDeque<i64>,
}

#[derive(Debug)]
struct Entry {
    seq: i64,
    bytes: u64,
    acknowledged: bool,
}

/// The contiguous acknowledged rows that the cursor has not yet passed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Settled {
    /// The last of them; 0 when there is none.
    pub last_seq: i64,
    /// How many they are.
    pub events: i32,
}

impl Settled {
    /// The batch that the cursor's move records, `None` when nothing is settled.
    pub fn batch(self) -> Option<Batch> {
        (self.events > 0).then_some(Batch { last_seq: self.last_seq, events: self.events })
    }
}

impl Flight {
    /// Notes that a row was handed to the producer. Rows come in ascending `seq`.
    pub fn sent(&mut self, seq: i64, bytes: u64) {
        debug_assert!(
            self.rows.back().is_none_or(|last| last.seq < seq),
            "rows are sent in the order of seq"
        );
        self.rows.push_back(Entry { seq, bytes, acknowledged: false });
        self.unacknowledged += 1;
        self.bytes += bytes;
    }

    /// Notes that `acks=all` came for a row, and settles what is now contiguous. Answers false for a row that is not
    /// in flight or was acknowledged before.
    pub fn acknowledged(&mut self, seq: i64) -> bool {
        let Ok(index) = self.rows.binary_search_by_key(&seq, |entry| entry.seq) else { return false };
        let Some(entry) = self.rows.get_mut(index).filter(|entry| !entry.acknowledged) else { return false };
        entry.acknowledged = true;
        self.unacknowledged -= 1;
        while let Some(first) = self.rows.pop_front_if(|first| first.acknowledged) {
            self.bytes -= first.bytes;
            self.settled.push_back(first.seq);
        }
        true
    }

    /// What the cursor may pass.
    pub fn settled(&self) -> Settled {
        let events = i32::try_from(self.settled.len()).unwrap_or(i32::MAX);
        Settled { last_seq: self.settled.back().copied().unwrap_or(0), events }
    }

    /// Notes that the cursor passed what was settled up to this row. More may have settled while it moved.
    pub fn passed(&mut self, last_seq: i64) {
        while self.settled.pop_front_if(|seq| *seq <= last_seq).is_some() {}
    }

    /// Gives up on everything that is not settled: it will be read and sent again.
    pub fn abandon(&mut self) {
        self.rows.clear();
        self.unacknowledged = 0;
        self.bytes = 0;
    }

    /// How many rows still wait for their acknowledgement.
    pub fn unacknowledged(&self) -> usize {
        self.unacknowledged
    }

    /// How many rows are held: unacknowledged ones, and acknowledged ones behind them.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The bytes of those rows.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The lowest row that still waits.
    pub fn lowest_seq(&self) -> Option<i64> {
        self.rows.front().map(|entry| entry.seq)
    }
}

/// What the cursor should do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// Nothing yet.
    Stay,
    /// Pass these rows; more of the window follow.
    Advance(Batch),
    /// Every row of the window is acknowledged: `from = to`, passing these last ones if there are any.
    Drain(Option<Batch>),
}

/// Decides the cursor's next move: the window's end at once, and before it only in steps of `step_rows`, so that the
/// cursor costs one small update a batch, or when nothing is left to wait for.
pub fn next_move(flight: &Flight, window_is_read: bool, step_rows: i32) -> Move {
    let idle = flight.rows() == 0;
    match flight.settled().batch() {
        batch if idle && window_is_read => Move::Drain(batch),
        Some(batch) if idle || batch.events >= step_rows => Move::Advance(batch),
        Some(_) | None => Move::Stay,
    }
}

#[cfg(test)]
mod tests;
