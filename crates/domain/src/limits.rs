//! The bounds of the job lifecycle, and the waits between its attempts.

use jiff::SignedDuration;

use crate::ids::ExportId;

/// An outage that no job fails of, whatever it needs is away: a night and the working day after it.
pub const OUTAGE_OUTLASTED_SECONDS: i64 = 24 * 60 * 60;

/// How many attempts of one job may fail because something around it was away; the next one fails the job. With the
/// waits between them they outlast [`OUTAGE_OUTLASTED_SECONDS`].
pub const TRANSIENT_FAILURES_MAX: i32 = 300;

/// How many attempts of one job may fail in a way that lets its own data or file be suspected; the next one fails the
/// job. Few, because each is a whole file made in vain, and a day of them would only tell the owner a day later.
pub const WORK_FAILURES_MAX: i32 = 8;

/// How many leases of one job may run out; with the next one the job is quarantined, because a job that takes its
/// worker down with it would otherwise take down every worker in turn.
pub const LOST_LEASES_MAX: i32 = 5;

/// The wait after the first passing failure; it doubles with each further one.
pub const BACKOFF_FIRST_SECONDS: i64 = 1;

/// Where the wait stops growing, before it is spread.
pub const BACKOFF_MAX_SECONDS: i64 = 300;

/// How much longer than its backoff a job waits at the most, so that what one outage failed does not all come back
/// in the same moment.
pub const SPREAD_PERCENT_MAX: i64 = 25;

/// A job's own share of [`SPREAD_PERCENT_MAX`], from none of it (0) to all of it (`u16::MAX`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spread(pub u16);

impl Spread {
    /// The share of this export: always the same, and of two exports hardly ever. It comes from the last digits of
    /// the identity, which are random; the first ones are the time, which jobs of one outage have in common.
    pub fn of(export_id: &ExportId) -> Self {
        let digits = export_id.as_str().bytes().rev().take(4).filter_map(|byte| (byte as char).to_digit(16));
        Self(digits.fold(0, |share, digit| (share << 4) | digit as u16))
    }
}

/// The wait before the next attempt, after `failures` failures of one sort in all.
pub fn backoff(failures: i32, spread: Spread) -> SignedDuration {
    let doublings = failures.saturating_sub(1).clamp(0, 30) as u32;
    let seconds = BACKOFF_FIRST_SECONDS.saturating_mul(1_i64 << doublings).min(BACKOFF_MAX_SECONDS);
    let longest_more = seconds * 1_000 * SPREAD_PERCENT_MAX / 100;
    let more = longest_more * i64::from(spread.0) / i64::from(u16::MAX);
    SignedDuration::from_secs(seconds) + SignedDuration::from_millis(more)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use uuid::Uuid;

    use super::*;

    const NONE: Spread = Spread(0);
    const ALL: Spread = Spread(u16::MAX);

    fn waits(failures_max: i32, spread: Spread) -> SignedDuration {
        (1..=failures_max).map(|failures| backoff(failures, spread)).sum()
    }

    #[test]
    fn the_wait_doubles_and_stops_growing_at_its_bound() {
        assert_eq!(backoff(1, NONE), SignedDuration::from_secs(BACKOFF_FIRST_SECONDS));
        assert_eq!(backoff(2, NONE), SignedDuration::from_secs(2 * BACKOFF_FIRST_SECONDS));
        assert_eq!(backoff(i32::MAX, NONE), SignedDuration::from_secs(BACKOFF_MAX_SECONDS));
    }

    #[test]
    fn a_day_of_outage_fails_nobody_and_an_outage_without_end_fails_within_two() {
        assert!(waits(TRANSIENT_FAILURES_MAX, NONE) >= SignedDuration::from_secs(OUTAGE_OUTLASTED_SECONDS));
        assert!(waits(TRANSIENT_FAILURES_MAX, ALL) < SignedDuration::from_hours(48));
    }

    #[test]
    fn what_only_the_work_can_be_blamed_for_is_told_within_minutes_of_waiting() {
        assert!(waits(WORK_FAILURES_MAX, ALL) < SignedDuration::from_mins(10));
    }

    #[test]
    fn jobs_that_failed_together_come_back_apart_and_none_before_its_backoff() {
        let (least, most) = (backoff(20, NONE), backoff(20, ALL));
        assert_eq!(most, SignedDuration::from_secs(BACKOFF_MAX_SECONDS * (100 + SPREAD_PERCENT_MAX) / 100));
        // An odd factor scatters the last digits as the random part of an identity does.
        let numbers = (0..1_000).map(|number| Uuid::from_u128(number * 0x9E37_79B9));
        let exports: Vec<_> = numbers.map(ExportId::from_uuid).collect();
        let waits: BTreeSet<_> = exports.iter().map(|export| backoff(20, Spread::of(export))).collect();
        assert!(waits.len() > 900, "{} waits of a thousand jobs", waits.len());
        assert!(waits.iter().all(|wait| (least..=most).contains(wait)));
        assert_eq!(Spread::of(&exports[0]), Spread::of(&exports[0]));
    }
}
