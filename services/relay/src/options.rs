//! The bounds of the relay, and the relations between them.

use std::sync::Arc;
use std::time::Duration;

use waybill_outbox::window::PageLimits;
use waybill_runtime::config;

/// At most so many pages are in flight, so that reading, sending and acknowledging overlap.
const PAGES_IN_FLIGHT_MAX: usize = 4;

/// No page is read while so many pages are acknowledged that the cursor has not passed, because its move takes long: who
/// takes over would send them again.
const PAGES_SETTLED_MAX: i32 = 64;

/// A lease is renewed so often in its term.
const RENEWALS_A_LEASE: u32 = 3;

/// A failed renewal is tried again so often in a lease's term.
const RETRIES_A_LEASE: u32 = 20;

/// The part of a lease that is not used, against a late timer and a slow answer.
const LEASE_MARGIN_PART: u32 = 10;

/// How a relay works.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// The outbox's name.
    pub(crate) outbox: Arc<str>,
    /// How long the lease runs.
    pub(crate) lease: Duration,
    /// How often to look when nothing wakes.
    pub(crate) poll_interval: Duration,
    /// One page.
    pub(crate) page: PageLimits,
    /// The producer's linger.
    pub(crate) linger: Duration,
    /// The producer's largest batch.
    pub(crate) batch_bytes_max: usize,
    /// The producer's codec.
    pub(crate) compression: config::Compression,
    /// How often the outbox is looked at as an operator would.
    pub(crate) observe_interval: Duration,
    /// A backlog before which the cursor has stood for so long is said.
    pub(crate) cursor_standing_after: Duration,
    /// Whoever holds back cleaning for so long is said.
    pub(crate) cleaning_held_back_after: Duration,
}

impl Options {
    /// Takes the section `[relay]`, for one outbox.
    pub(crate) fn from_config(section: &config::Relay, outbox: &str) -> Self {
        Self {
            outbox: outbox.into(),
            lease: section.lease(),
            poll_interval: section.poll_interval(),
            page: PageLimits {
                rows_max: section.page_rows.max(1),
                bytes_max: i64::try_from(section.page_bytes_max).unwrap_or(i64::MAX).max(1),
            },
            linger: Duration::from_millis(section.linger_ms),
            batch_bytes_max: section.batch_bytes_max,
            compression: section.compression,
            observe_interval: section.observe_interval(),
            cursor_standing_after: section.cursor_standing_after(),
            cleaning_held_back_after: section.cleaning_held_back_after(),
        }
    }

    /// The rows of one page.
    pub(crate) fn page_rows(&self) -> usize {
        usize::try_from(self.page.rows_max).unwrap_or(usize::MAX)
    }

    /// No page is read while so many rows are in flight.
    pub(crate) fn flight_rows_max(&self) -> usize {
        self.page_rows().saturating_mul(PAGES_IN_FLIGHT_MAX - 1)
    }

    /// No page is read while so many bytes are in flight.
    pub(crate) fn flight_bytes_max(&self) -> u64 {
        self.page.bytes_max.unsigned_abs()
    }

    /// The cursor moves in steps of so many rows while more are in flight.
    pub(crate) fn step_rows(&self) -> i32 {
        i32::try_from(self.page.rows_max).unwrap_or(i32::MAX)
    }

    /// No page is read while so many rows are acknowledged and not passed.
    pub(crate) fn settled_rows_max(&self) -> i32 {
        self.step_rows().saturating_mul(PAGES_SETTLED_MAX)
    }

    /// How long after a renewal the next one is due.
    pub(crate) fn renew_after(&self) -> Duration {
        self.lease / RENEWALS_A_LEASE
    }

    /// How long a renewal may take before the next one is tried over a new connection.
    pub(crate) fn renewal_max(&self) -> Duration {
        self.lease / RENEWALS_A_LEASE
    }

    /// How long after a failed renewal the next one is due.
    pub(crate) fn renew_again_after(&self) -> Duration {
        self.lease / RETRIES_A_LEASE
    }

    /// How long after the request for a lease its holder may still send.
    pub(crate) fn lease_usable(&self) -> Duration {
        self.lease - self.lease / LEASE_MARGIN_PART
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_fit_into_each_other() {
        let options = Options::from_config(&config::Relay::default(), "main");
        let silent = options.renew_after() + options.renewal_max();
        assert!(
            silent + options.renew_again_after() < options.lease_usable(),
            "one that nobody answers is made up for"
        );
        assert!(options.renew_again_after() < options.renew_after());
        assert!(options.flight_rows_max() >= options.page_rows(), "reading overlaps with sending");
    }
}
