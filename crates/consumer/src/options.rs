//! What one consumer group is told about its work.

use std::time::Duration;

use crate::error::ConsumerError;

/// How a consumer group reads one topic.
#[derive(Debug, Clone)]
pub struct ConsumerOptions {
    /// The consumer group's full name, prefix included; also the key of its rows in Postgres.
    pub group: String,
    /// The topic's full name, prefix included.
    pub topic: String,
    /// librdkafka's settings, `bootstrap.servers` among them. What positions depend on is set over them.
    pub settings: Vec<(String, String)>,
    /// The most records of one transaction.
    pub batch_records_max: usize,
    /// The most bytes of one transaction; one record may be larger.
    pub batch_bytes_max: usize,
    /// The most bytes that wait for one partition before it is paused.
    pub buffer_bytes_max: usize,
    /// The most transactions at once, over all partitions; never more than the pool has connections.
    pub batches_in_flight_max: usize,
    /// How long one transaction may take before its connection is given up.
    pub batch_timeout: Duration,
    /// How often the topic's id is compared with the one that was bound.
    pub topic_check_interval: Duration,
    /// The longest wait between two tries of anything that failed.
    pub backoff_max: Duration,
    /// How long a shutdown waits for transactions that are under way.
    pub drain_timeout: Duration,
    /// How long a shutdown waits for the group to be left, before the client is abandoned to its thread.
    pub leave_timeout: Duration,
}

impl ConsumerOptions {
    /// The options of a group on a topic, with every bound at its default.
    pub fn new(group: impl Into<String>, topic: impl Into<String>, settings: Vec<(String, String)>) -> Self {
        Self {
            group: group.into(),
            topic: topic.into(),
            settings,
            batch_records_max: 2_000,
            batch_bytes_max: 1024 * 1024,
            buffer_bytes_max: 4 * 1024 * 1024,
            batches_in_flight_max: 4,
            batch_timeout: Duration::from_secs(60),
            topic_check_interval: Duration::from_secs(5),
            backoff_max: Duration::from_secs(10),
            drain_timeout: Duration::from_secs(10),
            leave_timeout: Duration::from_secs(10),
        }
    }

    /// The relations between the bounds.
    pub(crate) fn check(&self) -> Result<(), ConsumerError> {
        let wrong = |option, detail: String| Err(ConsumerError::Options { option, detail });
        if self.batch_records_max == 0 || self.batches_in_flight_max == 0 {
            return wrong("batch_records_max, batches_in_flight_max", "must be above 0".to_owned());
        }
        if self.buffer_bytes_max < self.batch_bytes_max {
            return wrong("buffer_bytes_max", "must hold at least one batch (batch_bytes_max)".to_owned());
        }
        Ok(())
    }
}
