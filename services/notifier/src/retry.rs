//! When a notification that was surely not taken is tried again, and when nobody tries any longer. Pure.

use std::time::Duration;

/// The longest delay that a receiver may ask for with Retry-After, in seconds.
pub(crate) const RETRY_AFTER_MAX_S: u64 = 86_400;

/// The bounds within which a notification is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// With how many passing failures of its own a notification is given up; and how many attempts it gets at least
    /// while its channel cannot be reached.
    pub attempts_max: i32,
    /// For how long it is tried at least while its channel cannot be reached.
    pub term: Duration,
    /// The delay after the first attempt; each further one doubles it.
    pub delay_first: Duration,
    /// The longest delay that doubling leads to.
    pub delay_max: Duration,
}

/// What a notification has been through when an attempt of it fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tries {
    /// The number of this attempt, from 1.
    pub attempt: i32,
    /// The passing failures of its own before this one.
    pub failures: i32,
    /// How long before this attempt the first one began.
    pub tried_for: Duration,
}

/// Whose a passing failure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The whole channel's, whatever the notification: it says nothing about this one.
    Channel,
    /// This notification's, or its target's.
    Own,
}

impl Policy {
    /// How long to wait after a passing failure; none when nobody tries any longer.
    ///
    /// The receiver's own wish counts when it is longer than ours, up to [`RETRY_AFTER_MAX_S`].
    pub fn delay(&self, tries: &Tries, fault: Fault, retry_after: Option<Duration>) -> Option<Duration> {
        let over = match fault {
            // The count alone would be used up within hours. The term alone would be over at the first attempt after
            // a time in which nobody tried.
            Fault::Channel => tries.attempt >= self.attempts_max && tries.tried_for >= self.term,
            Fault::Own => tries.failures.saturating_add(1) >= self.attempts_max,
        };
        if over {
            return None;
        }
        let doublings = u32::try_from(tries.attempt.saturating_sub(1)).unwrap_or(0);
        let ours = self.delay_first.saturating_mul(2_u32.saturating_pow(doublings)).min(self.delay_max);
        let wished = retry_after.unwrap_or_default().min(Duration::from_secs(RETRY_AFTER_MAX_S));
        Some(ours.max(wished))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);
    const POLICY: Policy = Policy {
        attempts_max: 8,
        term: HOUR,
        delay_first: Duration::from_secs(5),
        delay_max: Duration::from_secs(60),
    };

    /// The `attempt`th failure of a notification whose failures were all its own.
    fn own(attempt: i32, retry_after: Option<Duration>) -> Option<Duration> {
        let tries = Tries { attempt, failures: attempt.saturating_sub(1), tried_for: Duration::ZERO };
        POLICY.delay(&tries, Fault::Own, retry_after)
    }

    fn channels(attempt: i32, tried_for: Duration) -> Option<Duration> {
        POLICY.delay(&Tries { attempt, failures: 0, tried_for }, Fault::Channel, None)
    }

    #[test]
    fn the_delay_doubles_up_to_its_bound_and_ends_with_the_last_failure() {
        assert_eq!(own(1, None), Some(Duration::from_secs(5)));
        assert_eq!(own(2, None), Some(Duration::from_secs(10)));
        assert_eq!(own(7, None), Some(Duration::from_secs(60)));
        assert_eq!(own(8, None), None);
        assert_eq!(own(i32::MAX, None), None);
    }

    #[test]
    fn a_receivers_wish_counts_when_it_is_longer_and_is_bounded() {
        assert_eq!(own(1, Some(Duration::from_secs(3))), Some(Duration::from_secs(5)));
        assert_eq!(own(1, Some(Duration::from_secs(90))), Some(Duration::from_secs(90)));
        assert_eq!(own(1, Some(Duration::MAX)), Some(Duration::from_secs(RETRY_AFTER_MAX_S)));
    }

    #[test]
    fn a_channel_that_is_away_rejects_nothing_within_the_term_however_many_attempts_there_were() {
        for attempt in [8, 500, i32::MAX] {
            let delay = channels(attempt, HOUR - Duration::from_millis(1));
            assert_eq!(delay, Some(POLICY.delay_max), "attempt {attempt}");
        }
        assert_eq!(channels(8, HOUR), None);
    }

    #[test]
    fn a_term_in_which_nobody_tried_rejects_nothing() {
        assert_eq!(channels(2, HOUR * 100), Some(Duration::from_secs(10)));
    }

    #[test]
    fn failures_of_the_channel_use_up_none_of_the_notifications_own() {
        let after_an_outage = Tries { attempt: 500, failures: 0, tried_for: HOUR * 100 };
        assert_eq!(POLICY.delay(&after_an_outage, Fault::Own, None), Some(POLICY.delay_max));
    }
}
