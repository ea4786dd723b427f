use std::time::Duration;

use serde::{Deserialize, Serialize};

/// `[relay]`: from the outbox to Kafka.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Relay {
    /// How long the active relay may be silent before another one takes over.
    pub lease_ms: u64,
    /// How often the outbox is looked at when nothing wakes the relay.
    pub poll_interval_ms: u64,
    /// The most rows of one page.
    pub page_rows: i64,
    /// The most bytes of one page's keys, headers and payloads.
    pub page_bytes_max: usize,
    /// How long the producer waits for a batch to fill.
    pub linger_ms: u64,
    /// The producer's codec: `none`, `gzip`, `snappy`, `lz4` or `zstd`.
    pub compression: String,
}

impl Default for Relay {
    fn default() -> Self {
        Self {
            lease_ms: 10_000,
            poll_interval_ms: 500,
            page_rows: 1000,
            page_bytes_max: 16_777_216,
            linger_ms: 5,
            compression: "lz4".to_owned(),
        }
    }
}

impl Relay {
    /// [`Self::lease_ms`] as a duration.
    #[must_use]
    pub fn lease(&self) -> Duration {
        Duration::from_millis(self.lease_ms)
    }

    /// [`Self::poll_interval_ms`] as a duration.
    #[must_use]
    pub fn poll_interval(&self) -> Duration {
        Duration::from_millis(self.poll_interval_ms)
    }
}
