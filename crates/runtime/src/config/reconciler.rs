use std::time::Duration;

use serde::{Deserialize, Serialize};

/// `[reconciler]`: finds what nothing has moved in time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reconciler {
    /// How often it looks.
    pub poll_interval_ms: u64,
    /// How long after its due time or lease a job's command is written again, and the shortest time until the next
    /// time. The longer the job stands, the longer that time is, up to five minutes.
    pub remind_after_ms: u64,
    /// The most jobs of one transaction.
    pub batch_jobs_max: i64,
    /// How many days of outbox partitions are made ahead.
    pub partitions_ahead_days: i32,
    /// How many days a relayed row of an outbox is kept at the least.
    pub outbox_retention_days: i32,
}

impl Default for Reconciler {
    fn default() -> Self {
        Self {
            poll_interval_ms: 1000,
            remind_after_ms: 15_000,
            batch_jobs_max: 500,
            partitions_ahead_days: 14,
            outbox_retention_days: 14,
        }
    }
}

impl Reconciler {
    /// [`Self::poll_interval_ms`] as a duration.
    #[must_use]
    pub fn poll_interval(&self) -> Duration {
        Duration::from_millis(self.poll_interval_ms)
    }
}
