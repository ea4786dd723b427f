//! The bounds of the job lifecycle.

use jiff::SignedDuration;

/// How many attempts of one job may fail for a passing reason; the next one fails the job.
pub const TRANSIENT_FAILURES_MAX: i32 = 8;

/// How many leases of one job may run out; with the next one the job is quarantined, because a job that takes its
/// worker down with it would otherwise take down every worker in turn.
pub const LOST_LEASES_MAX: i32 = 5;

/// The wait after the first passing failure; it doubles with each further one.
pub const BACKOFF_FIRST_SECONDS: i64 = 1;

/// The longest wait between two attempts.
pub const BACKOFF_MAX_SECONDS: i64 = 300;

/// The wait before the next attempt, after `failures` passing failures in all.
pub fn backoff(failures: i32) -> SignedDuration {
    let doublings = failures.saturating_sub(1).clamp(0, 30) as u32;
    let seconds = BACKOFF_FIRST_SECONDS.saturating_mul(1_i64 << doublings);
    SignedDuration::from_secs(seconds.min(BACKOFF_MAX_SECONDS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_and_stops_growing_at_its_bound() {
        assert_eq!(backoff(1), SignedDuration::from_secs(BACKOFF_FIRST_SECONDS));
        assert_eq!(backoff(2), SignedDuration::from_secs(2 * BACKOFF_FIRST_SECONDS));
        assert_eq!(backoff(i32::MAX), SignedDuration::from_secs(BACKOFF_MAX_SECONDS));
    }
}
