use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The smallest [`Reconciler::collect_after_hours`]: past the longest attempt and its last request to the store.
pub const COLLECT_AFTER_HOURS_MIN: u64 = 13;

/// The smallest [`Reconciler::condemned_for_minutes`]: past the longest time for which anybody is sent to a file.
pub const CONDEMNED_FOR_MINUTES_MIN: u64 = 10;

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
    /// How old the file of an attempt that came to nothing is before it is condemned.
    pub collect_after_hours: u64,
    /// How long a condemned file stays before the rows are looked at once more and it is deleted.
    pub condemned_for_minutes: u64,
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
            collect_after_hours: 24,
            condemned_for_minutes: 60,
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

    /// [`Self::collect_after_hours`] as a duration.
    #[must_use]
    pub fn collect_after(&self) -> Duration {
        Duration::from_secs(self.collect_after_hours.saturating_mul(60 * 60))
    }

    /// [`Self::condemned_for_minutes`] as a duration.
    #[must_use]
    pub fn condemned_for(&self) -> Duration {
        Duration::from_secs(self.condemned_for_minutes.saturating_mul(60))
    }
}
