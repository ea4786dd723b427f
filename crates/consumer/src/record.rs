//! A record as Kafka held it.

use rdkafka::message::{BorrowedMessage, Message};

use crate::native;

/// What a record costs beyond its own bytes when it waits in a buffer.
const RECORD_OVERHEAD_BYTES: usize = 128;

/// One record of a topic, owned, so that it can outlive the client that fetched it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The topic's name, prefix included.
    pub topic: String,
    /// The partition, from 0.
    pub partition: i32,
    /// The offset in that partition, from 0.
    pub offset: i64,
    /// The key's bytes; `None` is a record without one.
    pub key: Option<Vec<u8>>,
    /// Headers in order. A name that is not UTF-8 is replaced lossily and makes the record poison before it is decoded.
    pub headers: Vec<(String, Option<Vec<u8>>)>,
    /// The value's bytes; `None` is Kafka's tombstone.
    pub payload: Option<Vec<u8>>,
    /// Milliseconds since the epoch: when it was created or appended, as the topic is configured.
    pub timestamp_ms: Option<i64>,
    /// A header's name was not UTF-8.
    pub(crate) header_name_lossy: bool,
}

impl Record {
    /// A record of the given parts; what tests and tools that hold no Kafka client begin with.
    #[must_use]
    pub fn new(topic: impl Into<String>, partition: i32, offset: i64) -> Self {
        Self {
            topic: topic.into(),
            partition,
            offset,
            key: None,
            headers: Vec::new(),
            payload: None,
            timestamp_ms: None,
            header_name_lossy: false,
        }
    }

    /// The headers as borrowed pairs, in order.
    pub fn header_pairs(&self) -> impl Iterator<Item = (&str, Option<&[u8]>)> {
        self.headers.iter().map(|(name, value)| (name.as_str(), value.as_deref()))
    }

    /// What the record takes in memory, in bytes, roughly.
    pub(crate) fn size_bytes(&self) -> usize {
        let headers: usize =
            self.headers.iter().map(|(name, value)| name.len() + value.as_ref().map_or(0, Vec::len)).sum();
        RECORD_OVERHEAD_BYTES
            + headers
            + self.key.as_ref().map_or(0, Vec::len)
            + self.payload.as_ref().map_or(0, Vec::len)
    }

    pub(crate) fn from_message(message: &BorrowedMessage<'_>) -> Self {
        let headers = native::headers(message);
        Self {
            topic: message.topic().to_owned(),
            partition: message.partition(),
            offset: message.offset(),
            key: message.key().map(<[u8]>::to_vec),
            headers: headers.pairs,
            payload: message.payload().map(<[u8]>::to_vec),
            timestamp_ms: message.timestamp().to_millis(),
            header_name_lossy: headers.lossy,
        }
    }
}
