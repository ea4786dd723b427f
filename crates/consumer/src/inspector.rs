//! A client that joins no group and only asks: for a topic's id and for where its partitions begin and end.

use std::sync::Arc;
use std::time::Duration;

use rdkafka::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use waybill_topic_identity::{TopicIdError, describe_one};

/// How long Kafka may take to answer one question.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// The most queued events that one look-up clears away.
const EVENTS_MAX: usize = 100;

/// What Kafka says about one partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct View {
    /// The id of the topic that has the name now.
    pub(crate) topic_id: Option<String>,
    /// The log's start.
    pub(crate) low: i64,
    /// The offset after the last record that may be read.
    pub(crate) high: i64,
}

/// Why Kafka could not be asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LookError {
    #[error(transparent)]
    TopicId(#[from] TopicIdError),
    #[error("Kafka did not say where the partition begins and ends")]
    Watermarks(#[from] KafkaError),
    #[error("the look-up was lost")]
    Lost(#[from] tokio::task::JoinError),
}

#[derive(Clone)]
pub(crate) struct Inspector {
    client: Arc<BaseConsumer>,
}

impl Inspector {
    pub(crate) fn new(config: &ClientConfig) -> Result<Self, KafkaError> {
        Ok(Self { client: Arc::new(config.create()?) })
    }

    pub(crate) async fn topic_id(&self, topic: &str) -> Result<Option<String>, LookError> {
        let (inspector, topic) = (self.clone(), topic.to_owned());
        tokio::task::spawn_blocking(move || {
            inspector.discard_events();
            let described = describe_one(inspector.client.client(), &topic, ANSWER_TIMEOUT)?;
            Ok(described.map(|topic| topic.id))
        })
        .await?
    }

    pub(crate) async fn view(&self, topic: &str, partition: i32) -> Result<View, LookError> {
        let (inspector, topic) = (self.clone(), topic.to_owned());
        tokio::task::spawn_blocking(move || {
            let described = describe_one(inspector.client.client(), &topic, ANSWER_TIMEOUT)?;
            let topic_id = described.map(|topic| topic.id);
            let (low, high) = match topic_id {
                Some(_) => inspector.client.fetch_watermarks(&topic, partition, ANSWER_TIMEOUT)?,
                None => (0, 0),
            };
            Ok(View { topic_id, low, high })
        })
        .await?
    }

    /// Connection errors queue up in a client that nobody polls.
    fn discard_events(&self) {
        for _ in 0..EVENTS_MAX {
            if self.client.poll(Duration::ZERO).is_none() {
                break;
            }
        }
    }
}
