//! The bounds of the job lifecycle, and the waits between its attempts.

use jiff::SignedDuration;

use crate::ids::ExportId;

/// The longest that one attempt may take; a heartbeat alone must not hold a job for ever.
pub const ATTEMPT_HOURS_MAX: u64 = 12;

/// The longest life of a link by which somebody reads a file from the store itself.
pub const LINK_MINUTES_MAX: u64 = 5;

/// An outage that no job fails of, whatever it needs is away: a night and the working day after it.
pub const OUTAGE_OUTLASTED_SECONDS: i64 = 24 * 60 * 60;

/// How many attempts of one job may fail because something around it was away; the next one fails the job. With the
/// waits between them they outlast [`OUTAGE_OUTLASTED_SECONDS`], however small their draws.
pub const TRANSIENT_FAILURES_MAX: i32 = 800;

/// How many attempts of one job may fail in a way that lets its own data or file be suspected; the next one fails the
/// job. Few, because each is a whole file made in vain, and a day of them would only tell the owner a day later.
pub const WORK_FAILURES_MAX: i32 = 8;

/// With so many leases of one job that ran out without a word it is quarantined, because a job that takes its worker
/// down with it would otherwise take down every worker in turn. Failures that a worker reported do not count.
pub const LOST_LEASES_MAX: i32 = 3;

/// The longest wait after the first passing failure; it doubles with each further one.
pub const BACKOFF_FIRST_SECONDS: i64 = 1;

/// Where the longest wait stops growing.
pub const BACKOFF_MAX_SECONDS: i64 = 300;

/// What the waits of one job are drawn from, so that what one outage failed does not all come back in the same moment.
/// Not chance but the job's identity, so that every decision can be repeated from what was stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Jitter(u64);

impl Jitter {
    /// That of this export: always the same, and of two exports never. It comes from the last digits of the identity,
    /// which are random; the first ones are the time, which jobs of one outage have in common.
    pub fn of(export_id: &ExportId) -> Self {
        let digits = export_id.as_str().bytes().rev().take(16).filter_map(|byte| (byte as char).to_digit(16));
        Self(digits.fold(0, |seed, digit| (seed << 4) | u64::from(digit)))
    }

    /// The draw of this failure, evenly from all of `u32`: splitmix64, whose every step changes half of the bits.
    fn draw(self, failures: i32) -> u32 {
        let mut mixed =
            self.0.wrapping_add(u64::from(failures.unsigned_abs()).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) >> 32) as u32
    }
}

/// The longest wait before the next attempt, after `failures` failures of one sort in all.
pub fn backoff_max(failures: i32) -> SignedDuration {
    let doublings = failures.saturating_sub(1).clamp(0, 30) as u32;
    SignedDuration::from_secs(
        BACKOFF_FIRST_SECONDS.saturating_mul(1_i64 << doublings).min(BACKOFF_MAX_SECONDS),
    )
}

/// The wait before the next attempt: full jitter, evenly from nothing to [`backoff_max`].
pub fn backoff(failures: i32, jitter: Jitter) -> SignedDuration {
    let longest_ms = backoff_max(failures).as_millis() as i64;
    SignedDuration::from_millis((longest_ms * i64::from(jitter.draw(failures))) >> 32)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    fn jitter(random: u128) -> Jitter {
        Jitter::of(&ExportId::from_uuid(Uuid::from_u128(random)))
    }

    fn waits(failures_max: i32, jitter: Jitter) -> SignedDuration {
        (1..=failures_max).map(|failures| backoff(failures, jitter)).sum()
    }

    #[test]
    fn the_longest_wait_doubles_and_stops_growing_at_its_bound() {
        assert_eq!(backoff_max(1), SignedDuration::from_secs(BACKOFF_FIRST_SECONDS));
        assert_eq!(backoff_max(2), SignedDuration::from_secs(2 * BACKOFF_FIRST_SECONDS));
        assert_eq!(backoff_max(i32::MAX), SignedDuration::from_secs(BACKOFF_MAX_SECONDS));
        assert!(
            SignedDuration::from_secs(BACKOFF_MAX_SECONDS * i64::from(TRANSIENT_FAILURES_MAX))
                < SignedDuration::from_hours(72)
        );
    }

    proptest! {
        #[test]
        fn a_wait_is_within_its_bounds_and_the_same_again(random: u128, failures in 1..=i32::MAX) {
            let wait = backoff(failures, jitter(random));
            prop_assert!(wait >= SignedDuration::ZERO && wait <= backoff_max(failures));
            prop_assert_eq!(wait, backoff(failures, jitter(random)));
        }

        #[test]
        fn a_day_of_outage_fails_nobody_and_one_without_end_fails_within_three(random: u128) {
            let waited = waits(TRANSIENT_FAILURES_MAX, jitter(random));
            prop_assert!(waited >= SignedDuration::from_secs(OUTAGE_OUTLASTED_SECONDS), "{waited}");
            prop_assert!(waited < SignedDuration::from_hours(72), "{waited}");
        }

        #[test]
        fn what_only_the_work_can_be_blamed_for_is_told_within_minutes_of_waiting(random: u128) {
            prop_assert!(waits(WORK_FAILURES_MAX, jitter(random)) < SignedDuration::from_mins(10));
        }
    }

    #[test]
    fn jobs_that_failed_together_come_back_spread_over_the_whole_wait() {
        // Neighbours, which a weak draw would give neighbouring waits.
        let waits: Vec<_> = (0..1_000).map(|random| backoff(20, jitter(random)).as_secs()).collect();
        let each: BTreeSet<_> = waits.iter().collect();
        assert!(each.len() > 250, "{} different seconds of {BACKOFF_MAX_SECONDS}", each.len());
        let tenth = BACKOFF_MAX_SECONDS / 10;
        for part in 0..10 {
            let within =
                waits.iter().filter(|wait| (part * tenth..(part + 1) * tenth).contains(*wait)).count();
            assert!((50..200).contains(&within), "{within} of 1,000 waits in tenth {part}");
        }
    }

    #[test]
    fn the_waits_of_one_job_are_drawn_apart() {
        let waits: BTreeSet<_> = (20..120).map(|failures| backoff(failures, jitter(7))).collect();
        assert_eq!(waits.len(), 100);
    }
}
