use std::time::Duration;

use serde::{Deserialize, Serialize};

/// `[worker]`: runs exports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Worker {
    /// How many exports one process runs at once.
    pub slots: usize,
    /// How long a claimed job may go without a heartbeat before another worker takes it over.
    pub lease_ms: u64,
    /// How often the lease is renewed and the progress written.
    pub heartbeat_ms: u64,
    /// How often due jobs are looked for when no command wakes the worker.
    pub poll_interval_ms: u64,
}

impl Default for Worker {
    fn default() -> Self {
        Self { slots: 2, lease_ms: 30_000, heartbeat_ms: 1000, poll_interval_ms: 1000 }
    }
}

impl Worker {
    /// [`Self::lease_ms`] as a duration.
    #[must_use]
    pub fn lease(&self) -> Duration {
        Duration::from_millis(self.lease_ms)
    }

    /// [`Self::heartbeat_ms`] as a duration.
    #[must_use]
    pub fn heartbeat(&self) -> Duration {
        Duration::from_millis(self.heartbeat_ms)
    }

    /// [`Self::poll_interval_ms`] as a duration.
    #[must_use]
    pub fn poll_interval(&self) -> Duration {
        Duration::from_millis(self.poll_interval_ms)
    }
}
