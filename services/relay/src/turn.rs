//! How long the rows of holds have the line before the window has its turn again.

use std::time::Duration;

use tokio::time::Instant;

/// The holds and the window take turns of this length, so that neither waits for the end of the other's backlog.
pub(crate) const TURN: Duration = Duration::from_secs(1);

/// The longest turn of holds.
const TURN_MAX: Duration = Duration::from_secs(10);

/// As many times as much as was parked under a hold since its last turn has it to send in this one. Above 1 a hold becomes
/// smaller with every turn, however much comes.
const GAIN: u64 = 2;

/// The turn of one hold after the other: it lasts for [`TURN`], and longer if by then the one that goes on has sent less than
/// it has to, but not beyond [`TURN_MAX`].
#[derive(Debug)]
pub(crate) struct Turn {
    until: Instant,
    at_most: Instant,
    owed: u64,
}

impl Turn {
    /// A turn in which no hold goes on yet.
    pub(crate) fn begin(now: Instant) -> Self {
        Self { until: now + TURN, at_most: now + TURN_MAX, owed: 0 }
    }

    /// A hold goes on, under which so many rows were parked since its last turn.
    pub(crate) fn takes_up(&mut self, parked: u64) {
        self.owed = parked.saturating_mul(GAIN);
    }

    /// Notes that so many of its rows were sent.
    pub(crate) fn sent(&mut self, rows: u64) {
        self.owed = self.owed.saturating_sub(rows);
    }

    /// It can do no more in this turn, and keeps no other from it.
    pub(crate) fn lays_down(&mut self) {
        self.owed = 0;
    }

    /// Whether it is over.
    pub(crate) fn is_over(&self, now: Instant) -> bool {
        now >= self.until && (self.owed == 0 || now >= self.at_most)
    }

    /// When it may be over though nothing is sent.
    pub(crate) fn next_look(&self, now: Instant) -> Instant {
        if now < self.until { self.until } else { self.at_most }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_turn_lasts_until_twice_as_much_is_sent_as_was_parked_but_not_for_ever() {
        let now = Instant::now();
        let short = Turn::begin(now);
        assert!(!short.is_over(now) && short.is_over(now + TURN));
        let mut long = Turn::begin(now);
        long.takes_up(1_000);
        long.sent(1_999);
        assert!(!long.is_over(now + TURN_MAX - SECOND));
        assert!(long.is_over(now + TURN_MAX));
        long.sent(1);
        assert!(long.is_over(now + TURN) && !long.is_over(now));
    }

    #[test]
    fn what_one_hold_still_had_to_send_when_it_ended_makes_the_turn_of_the_next_no_longer() {
        let now = Instant::now();
        let mut turn = Turn::begin(now);
        turn.takes_up(1_000);
        assert!(!turn.is_over(now + TURN));
        turn.lays_down();
        assert!(turn.is_over(now + TURN) && !turn.is_over(now));
        turn.takes_up(1);
        assert!(!turn.is_over(now + TURN) && turn.is_over(now + TURN_MAX));
    }

    #[test]
    fn somebody_looks_whenever_a_turn_may_be_over() {
        let now = Instant::now();
        let mut turn = Turn::begin(now);
        turn.takes_up(1);
        assert_eq!(turn.next_look(now), now + TURN);
        assert_eq!(turn.next_look(now + TURN), now + TURN_MAX);
    }

    /// How many turns a hold of so many rows takes to empty while so many come and can be sent a second.
    fn turns_until_empty(held: u64, inflow: u64, outflow: u64) -> Option<usize> {
        let (mut held, mut parked, mut now) = (held, 0, Instant::now());
        (1..200).find(|_| {
            let (mut turn, begun) = (Turn::begin(now), now);
            turn.takes_up(parked);
            while !turn.is_over(now) && held > 0 {
                now += SECOND / 10;
                turn.sent(held.min(outflow / 10));
                held = held.saturating_sub(outflow / 10);
            }
            let is_empty = held == 0;
            now += TURN;
            parked = inflow * (now - begun).as_secs();
            held += parked;
            is_empty
        })
    }

    #[test]
    fn a_hold_empties_as_long_as_less_comes_than_can_be_sent() {
        for inflow in [0, 300, 500, 700, 850] {
            assert!(turns_until_empty(10_000, inflow, 1_000).is_some(), "{inflow}");
        }
        assert_eq!(turns_until_empty(10_000, 1_100, 1_000), None);
    }
}
