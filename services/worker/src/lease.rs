//! Until when an attempt surely holds its job, as far as this machine can know.
//!
//! By a clock that nobody sets and that only goes forward. It may stand still while the whole machine sleeps: that is one more
//! way to come back late, and every write of a late worker is refused by its fence. This clock saves work, and is no guard.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

/// How much earlier than its lease is over an attempt stops: enough to let go of what it holds while it still may.
const STOPS_EARLIER_PERCENT: u32 = 5;

/// The known end of an attempt's lease, by this machine's monotonic clock; its clones share it. Reckoned from before
/// the claim or the renewal was sent, so that the lease is over here before it is in the database.
#[derive(Debug, Clone)]
pub(crate) struct Lease {
    held_until: watch::Sender<Instant>,
}

impl Lease {
    /// A lease that was asked for at this moment.
    pub(crate) fn asked_for(asked_at: Instant, length: Duration) -> Self {
        Self { held_until: watch::Sender::new(end(asked_at, length)) }
    }

    /// It was renewed by what was asked for at this moment.
    pub(crate) fn renewed(&self, asked_at: Instant, length: Duration) {
        self.held_until.send_replace(end(asked_at, length));
    }

    /// Its end.
    pub(crate) fn held_until(&self) -> Instant {
        *self.held_until.borrow()
    }

    /// The time until its end, zero once it is over.
    pub(crate) fn remaining(&self) -> Duration {
        self.held_until().saturating_duration_since(Instant::now())
    }
}

fn end(asked_at: Instant, length: Duration) -> Instant {
    asked_at + length - length * STOPS_EARLIER_PERCENT / 100
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_over_here_before_it_is_in_the_database_and_a_renewal_counts_from_when_it_was_asked_for() {
        let (asked_at, length) = (Instant::now(), Duration::from_secs(30));
        let lease = Lease::asked_for(asked_at, length);
        assert!(lease.held_until() < asked_at + length);
        let again = asked_at + Duration::from_secs(10);
        lease.clone().renewed(again, length);
        assert!(lease.held_until() > asked_at + length && lease.held_until() < again + length);
    }
}
