//! What is on its way to Kafka, and how far the cursor may follow.

use std::collections::VecDeque;

use super::position::Batch;

/// At most so many held rows are parked by one move of the cursor, which copies them.
pub const PARKED_ROWS_A_MOVE_MAX: usize = 1_000;

/// The rows that were handed to the producer, or are held, and are not yet behind the cursor, in the order of `seq`.
///
/// Kafka acknowledges partition by partition and so in any order across them. The cursor may only pass a row when that
/// row and every one before it is acknowledged, or held: then the move parks it.
#[derive(Debug, Default)]
pub struct Flight {
    rows: VecDeque<Entry>,
    unacknowledged: usize,
    bytes: u64,
    /// Ascending. Who reads bounds them: no page is read while they are many.
    settled: VecDeque<(i64, Standing)>,
    settled_held: usize,
}

#[derive(Debug)]
struct Entry {
    seq: i64,
    bytes: u64,
    lane: usize,
    standing: Standing,
}

/// How a row stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Sent,
    Acknowledged,
    Held(Held),
}

/// A row that the cursor passes without an acknowledgement, because it is parked with the same move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// The row.
    pub seq: i64,
    /// What it waits under.
    pub hold_id: i64,
    /// Whether it is the cause: Kafka will not have it. If not, it waits.
    pub is_refused: bool,
}

/// The contiguous rows, acknowledged or held, that the cursor has not yet passed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Settled {
    /// The last of them; 0 when there is none.
    pub last_seq: i64,
    /// How many were acknowledged.
    pub events: i32,
    /// How many are held.
    pub held: usize,
}

impl Settled {
    /// The batch that the cursor's move records, `None` when nothing is settled.
    pub fn batch(self) -> Option<Batch> {
        (self.events > 0 || self.held > 0).then_some(Batch { last_seq: self.last_seq, events: self.events })
    }

    fn rows(self) -> i32 {
        self.events.saturating_add(i32::try_from(self.held).unwrap_or(i32::MAX))
    }
}

impl Flight {
    /// Notes that a row was handed to the producer. Rows come in ascending `seq`. `lane` is the caller's own number of
    /// whatever rows wait on together; the acknowledgement gives it back.
    pub fn sent(&mut self, seq: i64, bytes: u64, lane: usize) {
        self.push(Entry { seq, bytes, lane, standing: Standing::Sent });
        self.unacknowledged += 1;
    }

    /// Notes that a row is held: it is not handed over, and the cursor parks it in passing.
    pub fn held(&mut self, held: Held, bytes: u64) {
        self.push(Entry { seq: held.seq, bytes, lane: 0, standing: Standing::Held(held) });
        self.settle();
    }

    /// Notes that `acks=all` came for a row, and settles what is now contiguous. Answers the row's lane, `None` for a row
    /// that is not in flight or was acknowledged before.
    pub fn acknowledged(&mut self, seq: i64) -> Option<usize> {
        let index = self.rows.binary_search_by_key(&seq, |entry| entry.seq).ok()?;
        let entry = self.rows.get_mut(index).filter(|entry| entry.standing == Standing::Sent)?;
        entry.standing = Standing::Acknowledged;
        let lane = entry.lane;
        self.unacknowledged -= 1;
        self.settle();
        Some(lane)
    }

    /// The lane of a row that waits for its acknowledgement.
    pub fn lane(&self, seq: i64) -> Option<usize> {
        let index = self.rows.binary_search_by_key(&seq, |entry| entry.seq).ok()?;
        self.rows.get(index).filter(|entry| entry.standing == Standing::Sent).map(|entry| entry.lane)
    }

    fn push(&mut self, entry: Entry) {
        debug_assert!(
            self.rows.back().is_none_or(|last| last.seq < entry.seq),
            "rows are sent in the order of seq"
        );
        self.bytes += entry.bytes;
        self.rows.push_back(entry);
    }

    fn settle(&mut self) {
        while let Some(first) = self.rows.pop_front_if(|first| first.standing != Standing::Sent) {
            self.bytes -= first.bytes;
            self.settled_held += usize::from(matches!(first.standing, Standing::Held(_)));
            self.settled.push_back((first.seq, first.standing));
        }
    }

    /// What the cursor may pass.
    pub fn settled(&self) -> Settled {
        let events = i32::try_from(self.settled.len() - self.settled_held).unwrap_or(i32::MAX);
        Settled { last_seq: self.settled.back().map_or(0, |(seq, _)| *seq), events, held: self.settled_held }
    }

    /// What one move parks: the first settled rows, as many as it may copy, and the held ones among them.
    pub fn parking(&self) -> (Settled, Vec<Held>) {
        let (mut settled, mut parked) = (Settled::default(), Vec::new());
        for (seq, standing) in &self.settled {
            if parked.len() == PARKED_ROWS_A_MOVE_MAX {
                break;
            }
            settled.last_seq = *seq;
            match standing {
                Standing::Held(held) => parked.push(*held),
                Standing::Sent | Standing::Acknowledged => settled.events = settled.events.saturating_add(1),
            }
        }
        settled.held = parked.len();
        (settled, parked)
    }

    /// The acknowledged rows among those that are settled, in order.
    pub fn acknowledged_rows(&self) -> impl Iterator<Item = i64> + '_ {
        let acknowledged = self.settled.iter().filter(|(_, standing)| *standing == Standing::Acknowledged);
        acknowledged.map(|(seq, _)| *seq)
    }

    /// Notes that the cursor passed what was settled up to this row. More may have settled while it moved.
    pub fn passed(&mut self, last_seq: i64) {
        while let Some((_, standing)) = self.settled.pop_front_if(|(seq, _)| *seq <= last_seq) {
            self.settled_held -= usize::from(matches!(standing, Standing::Held(_)));
        }
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
    /// Pass what [`Flight::parking`] says, and park the held rows of it.
    Park,
    /// Every row of the window is acknowledged: `from = to`, passing these last ones if there are any.
    Drain(Option<Batch>),
}

/// Decides the cursor's next move: the window's end at once, and before it only in steps of `step_rows`, so that the
/// cursor costs one small update a batch, or when nothing is left to wait for. Held rows are parked before the window ends.
pub fn next_move(flight: &Flight, window_is_read: bool, step_rows: i32) -> Move {
    let idle = flight.rows() == 0;
    let settled = flight.settled();
    let is_due = idle || settled.rows() >= step_rows;
    match settled.batch() {
        Some(_) if settled.held > 0 => {
            if is_due {
                Move::Park
            } else {
                Move::Stay
            }
        }
        batch if idle && window_is_read => Move::Drain(batch),
        Some(batch) if is_due => Move::Advance(batch),
        Some(_) | None => Move::Stay,
    }
}

#[cfg(test)]
mod tests;
