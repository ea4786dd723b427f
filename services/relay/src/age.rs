//! How long the oldest row has waited that the cursor has not passed: as the last look found it, and on from there as long as
//! nobody can look.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::metrics;

/// What one relay knows of its outbox, also while it stands by because the database does not answer.
#[derive(Debug)]
pub(crate) struct OldestAge {
    outbox: Arc<str>,
    known: Mutex<Known>,
}

/// What is known of the oldest row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    /// Nothing: nobody has looked, or another relay looks.
    Nothing,
    /// None waited.
    NoneWaits,
    /// It was that old then. Before the cursor moved last, one was seen that was as old as `before`, which it may have passed.
    Waits { at: Instant, age: Duration, before: Duration },
}

impl OldestAge {
    /// Of an outbox of which nothing is known.
    pub(crate) fn of(outbox: &Arc<str>) -> Self {
        let oldest = Self { outbox: Arc::clone(outbox), known: Mutex::new(Known::Nothing) };
        oldest.show();
        oldest
    }

    /// Notes what a look found, or whoever knows that none waits.
    pub(crate) fn saw(&self, age: Option<Duration>) {
        let at = Instant::now();
        self.know(|_| age.map_or(Known::NoneWaits, |age| Known::Waits { at, age, before: Duration::ZERO }));
        self.show();
    }

    /// Notes that the cursor has passed rows. The next look says which wait now.
    pub(crate) fn moved(&self) {
        self.know(|known| known.moved(Instant::now()));
    }

    /// Nobody could look: whatever waited since the cursor moved last is as much older now.
    pub(crate) fn grow(&self) {
        self.show();
    }

    /// Another relay looks now, or nobody need.
    pub(crate) fn forget(&self) {
        self.know(|_| Known::Nothing);
        self.show();
    }

    fn know(&self, change: impl FnOnce(Known) -> Known) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        *known = change(*known);
    }

    fn show(&self) {
        let known = *self.known.lock().unwrap_or_else(PoisonError::into_inner);
        metrics::set(&metrics::OLDEST_AGE, &self.outbox, known.seconds(Instant::now()));
    }
}

impl Known {
    /// What is known after a move: whatever waits behind the cursor now has waited since then at least.
    fn moved(self, at: Instant) -> Self {
        let before = match self {
            Self::Nothing | Self::NoneWaits => Duration::ZERO,
            Self::Waits { age, before, .. } => before.max(age),
        };
        Self::Waits { at, age: Duration::ZERO, before }
    }

    /// As the gauge has it: not a number where nothing is known, which is never taken for an outbox without a backlog.
    fn seconds(self, now: Instant) -> f64 {
        match self {
            Self::Nothing => f64::NAN,
            Self::NoneWaits => 0.0,
            Self::Waits { at, age, before } => {
                (age + now.saturating_duration_since(at)).max(before).as_secs_f64()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn shows(known: Known, now: Instant, age_seconds: f64) -> bool {
        (known.seconds(now) - age_seconds).abs() < f64::EPSILON
    }

    #[test]
    fn what_waited_when_it_was_seen_grows_older_and_what_did_not_wait_does_not() {
        let at = Instant::now();
        let waits = Known::Waits { at, age: seconds(5), before: seconds(0) };
        assert!(shows(waits, at, 5.0));
        assert!(shows(waits, at + seconds(60), 65.0));
        assert!(shows(Known::NoneWaits, at + seconds(60), 0.0));
    }

    #[test]
    fn where_nothing_is_known_no_number_is_shown() {
        assert!(Known::Nothing.seconds(Instant::now()).is_nan());
    }

    #[test]
    fn an_age_does_not_grow_while_the_cursor_moves_and_nobody_can_look() {
        let at = Instant::now();
        let mut known = Known::Waits { at, age: seconds(5), before: seconds(0) };
        for after in 1..=60 {
            known = known.moved(at + seconds(after));
            assert!(shows(known, at + seconds(after + 1), 5.0), "{after} s");
        }
        assert!(shows(known, at + seconds(60 + 90), 90.0), "it moves no more");
    }

    #[test]
    fn what_waits_when_the_cursor_moved_before_anybody_looked_has_waited_since_then() {
        let at = Instant::now();
        for known in [Known::Nothing, Known::NoneWaits] {
            assert!(shows(known.moved(at), at + seconds(90), 90.0));
        }
    }
}
