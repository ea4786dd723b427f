use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::config::Outboxes;

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
    /// The most bytes of one of the producer's batches, before compression.
    pub batch_bytes_max: usize,
    /// The producer's codec.
    pub compression: Compression,
    /// How often the active relay looks at its outbox as an operator would.
    pub observe_interval_ms: u64,
    /// How long the cursor may stand with rows before it until that is said.
    pub cursor_standing_after_ms: u64,
    /// How long somebody's transaction may hold back the database's cleaning until that is said.
    pub cleaning_held_back_after_ms: u64,
    /// The outboxes of other services, by the names that logs and metrics call them. The product's own, `main`, is always
    /// there, and in none of these.
    #[serde(deserialize_with = "super::outbox::named")]
    pub outboxes: Outboxes,
}

/// How the producer compresses its batches; named as librdkafka's `compression.type` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    /// Not at all.
    None,
    /// `gzip`
    Gzip,
    /// `snappy`
    Snappy,
    /// `lz4`
    #[default]
    Lz4,
    /// `zstd`
    Zstd,
}

impl Compression {
    /// The value of `compression.type`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Snappy => "snappy",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        }
    }
}

impl Default for Relay {
    fn default() -> Self {
        Self {
            lease_ms: 10_000,
            poll_interval_ms: 500,
            page_rows: 2000,
            page_bytes_max: 16_777_216,
            linger_ms: 1,
            batch_bytes_max: 262_144,
            compression: Compression::Lz4,
            observe_interval_ms: 10_000,
            cursor_standing_after_ms: 30_000,
            cleaning_held_back_after_ms: 300_000,
            outboxes: Outboxes::new(),
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

    /// [`Self::observe_interval_ms`] as a duration.
    #[must_use]
    pub fn observe_interval(&self) -> Duration {
        Duration::from_millis(self.observe_interval_ms)
    }

    /// [`Self::cursor_standing_after_ms`] as a duration.
    #[must_use]
    pub fn cursor_standing_after(&self) -> Duration {
        Duration::from_millis(self.cursor_standing_after_ms)
    }

    /// [`Self::cleaning_held_back_after_ms`] as a duration.
    #[must_use]
    pub fn cleaning_held_back_after(&self) -> Duration {
        Duration::from_millis(self.cleaning_held_back_after_ms)
    }
}
