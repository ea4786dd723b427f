//! When a notification that was surely not taken is tried again, and when nobody tries any longer. Pure.

use std::time::Duration;

/// The longest delay that a receiver may ask for with Retry-After, in seconds.
pub(crate) const RETRY_AFTER_MAX_S: u64 = 86_400;

/// The bounds within which a notification is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// How many attempts a notification gets.
    pub attempts_max: i32,
    /// The delay after the first attempt; each further one doubles it.
    pub delay_first: Duration,
    /// The longest delay that doubling leads to.
    pub delay_max: Duration,
}

impl Policy {
    /// How long to wait after attempt number `attempt` (from 1); none when it was the last one.
    ///
    /// The receiver's own wish counts when it is longer than ours, up to [`RETRY_AFTER_MAX_S`].
    pub fn delay(&self, attempt: i32, retry_after: Option<Duration>) -> Option<Duration> {
        if attempt >= self.attempts_max {
            return None;
        }
        let doublings = u32::try_from(attempt.saturating_sub(1)).unwrap_or(0);
        let ours = self.delay_first.saturating_mul(2_u32.saturating_pow(doublings)).min(self.delay_max);
        let wished = retry_after.unwrap_or_default().min(Duration::from_secs(RETRY_AFTER_MAX_S));
        Some(ours.max(wished))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: Policy =
        Policy { attempts_max: 8, delay_first: Duration::from_secs(5), delay_max: Duration::from_secs(60) };

    #[test]
    fn the_delay_doubles_up_to_its_bound_and_ends_with_the_last_attempt() {
        assert_eq!(POLICY.delay(1, None), Some(Duration::from_secs(5)));
        assert_eq!(POLICY.delay(2, None), Some(Duration::from_secs(10)));
        assert_eq!(POLICY.delay(7, None), Some(Duration::from_secs(60)));
        assert_eq!(POLICY.delay(8, None), None);
        assert_eq!(POLICY.delay(i32::MAX, None), None);
    }

    #[test]
    fn a_receivers_wish_counts_when_it_is_longer_and_is_bounded() {
        assert_eq!(POLICY.delay(1, Some(Duration::from_secs(3))), Some(Duration::from_secs(5)));
        assert_eq!(POLICY.delay(1, Some(Duration::from_secs(90))), Some(Duration::from_secs(90)));
        assert_eq!(POLICY.delay(1, Some(Duration::MAX)), Some(Duration::from_secs(RETRY_AFTER_MAX_S)));
    }
}
