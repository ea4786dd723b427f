//! Time since boot, which goes on while the machine sleeps and which nobody can set.
//!
//! A sender that was frozen and continued finds here how long that really was. Deliberately absent: the wall clock.

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

#[cfg(target_os = "linux")]
const BOOT_CLOCK: ClockId = ClockId::CLOCK_BOOTTIME;
// The other systems that we build on count their time of sleep in the monotonic clock.
#[cfg(not(target_os = "linux"))]
const BOOT_CLOCK: ClockId = ClockId::CLOCK_MONOTONIC;

/// Until when an attempt may begin to send, by the boot clock.
///
/// It is taken before the transaction that writes the attempt's row, so it is never later than the row's own deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline {
    at: Duration,
}

impl Deadline {
    /// The moment `term` from now.
    ///
    /// A clock that cannot be read gives a deadline that has passed, so nothing is ever sent on a guess.
    pub fn after(term: Duration) -> Self {
        Self { at: now().map_or(Duration::ZERO, |now| now.saturating_add(term)) }
    }

    /// What is left until the deadline; none once it has passed.
    pub fn remaining(&self) -> Option<Duration> {
        let left = self.at.checked_sub(now()?)?;
        (!left.is_zero()).then_some(left)
    }

    /// Whether it is too late to send.
    pub fn has_passed(&self) -> bool {
        self.remaining().is_none()
    }
}

fn now() -> Option<Duration> {
    clock_gettime(BOOT_CLOCK).ok().map(Duration::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_ahead_has_time_left_and_no_more_than_its_term() {
        let deadline = Deadline::after(Duration::from_secs(60));
        assert!(deadline.remaining().is_some_and(|left| left <= Duration::from_secs(60)));
        assert!(!deadline.has_passed());
    }

    #[test]
    fn a_deadline_without_a_term_has_passed() {
        assert!(Deadline::after(Duration::ZERO).has_passed());
    }
}
