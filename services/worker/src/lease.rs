//! Until when an attempt surely holds its job, as far as this machine can know.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

/// The known end of an attempt's lease, by this machine's monotonic clock; its clones share it. Reckoned from before
/// the claim or the renewal was sent, so that the lease is over here no later than in the database.
#[derive(Debug, Clone)]
pub(crate) struct Lease {
    held_until: watch::Sender<Instant>,
}

impl Lease {
    /// A lease that was asked for at this moment.
    pub(crate) fn asked_for(asked_at: Instant, length: Duration) -> Self {
        Self { held_until: watch::Sender::new(asked_at + length) }
    }

    /// It was renewed by what was asked for at this moment.
    pub(crate) fn renewed(&self, asked_at: Instant, length: Duration) {
        self.held_until.send_replace(asked_at + length);
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
