//! How long the lowest row in flight has been waited for.

use std::time::Duration;

use tokio::time::Instant;

/// A row that waits so long is sent again by another producer: a broker may forget the one that waits, and then takes its
/// requests in any order.
const SESSION_WAIT_MAX: Duration = Duration::from_secs(300);

/// The lowest row, and since when it is that.
pub(super) struct Wait {
    lowest_seq: Option<i64>,
    since: Instant,
}

impl Wait {
    /// Nothing is waited for.
    pub(super) fn for_nothing() -> Self {
        Self { lowest_seq: None, since: Instant::now() }
    }

    /// Takes note of the row that is the lowest one now, and answers whether it has been that for too long.
    pub(super) fn is_too_long(&mut self, lowest_seq: Option<i64>, now: Instant) -> bool {
        if self.lowest_seq != lowest_seq {
            *self = Self { lowest_seq, since: now };
        }
        lowest_seq.is_some() && now.duration_since(self.since) >= SESSION_WAIT_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_too_long_when_it_is_for_one_row_all_the_time() {
        let (mut wait, start) = (Wait::for_nothing(), Instant::now());
        assert!(!wait.is_too_long(Some(1), start));
        assert!(!wait.is_too_long(Some(2), start + SESSION_WAIT_MAX), "one was acknowledged meanwhile");
        assert!(wait.is_too_long(Some(2), start + SESSION_WAIT_MAX * 2));
        assert!(!wait.is_too_long(None, start + SESSION_WAIT_MAX * 9), "nothing is in flight");
    }
}
