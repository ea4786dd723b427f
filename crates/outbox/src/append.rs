//! What a writer hands over: one event, refused before its transaction commits if Kafka would refuse it. The function
//! `outbox_append` of `migrations/outbox` is this in SQL, bounds included.

use tokio_postgres::{Client, GenericClient};

use crate::codes;
use crate::outbox::Outbox;

/// The channel on which [`wake`] notifies and a relay listens.
pub const CHANNEL: &str = "waybill_outbox";

/// The largest record in bytes that is accepted, as [`record_bytes`] counts it. Kafka's default `max.message.bytes` is
/// 1,048,576 and counts the whole batch, framing included; the difference leaves room for a compressor that grows
/// what it cannot shrink.
pub const EVENT_BYTES_MAX: usize = 1_000_000;

/// The longest header name in bytes.
pub const HEADER_NAME_BYTES_MAX: usize = 255;

/// The most headers of one event.
pub const HEADERS_MAX: usize = 64;

/// The longest topic name in characters, as Kafka has it.
const TOPIC_CHARS_MAX: usize = 249;

/// A record batch's header, and one record's fixed fields at their largest (Kafka's protocol, record batch v2).
const BATCH_OVERHEAD_BYTES: usize = 61 + 21;

/// A header's two lengths at their largest.
const HEADER_OVERHEAD_BYTES: usize = 10;

/// One event as its writer hands it over.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    /// The Kafka topic: 1 to 249 of `a-z A-Z 0-9 . _ -`.
    pub topic: &'a str,
    /// The record's key. Events of one key keep their order; without a key there is none.
    pub key: Option<&'a [u8]>,
    /// The event's identity, for people who look for it. It is not sent unless it is a header as well.
    pub event_id: &'a str,
    /// Names with values, in the order in which they are sent. A value may be empty, and may be null.
    pub headers: &'a [(String, Option<Vec<u8>>)],
    /// The record's value. `None` is a tombstone.
    pub payload: Option<&'a [u8]>,
}

/// Why an event was not appended. The writer's transaction must not commit after any of these.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// Kafka has no topic of such a name.
    #[error("`{topic}` is no topic name: Kafka takes 1 to {TOPIC_CHARS_MAX} of a-z A-Z 0-9 . _ -")]
    Topic {
        /// The name as it was given.
        topic: String,
    },
    /// Nobody could ever find this event again, or no database could store its id.
    #[error("an event for topic `{topic}` has an event id that is empty or holds a NUL")]
    EventId {
        /// The topic that it was meant for.
        topic: String,
    },
    /// A header's name is empty, too long or holds control characters.
    #[error("`{name}` is no header name: 1 to {HEADER_NAME_BYTES_MAX} bytes without control characters")]
    HeaderName {
        /// The name as it was given.
        name: String,
    },
    /// More headers than a record should carry.
    #[error("{headers} headers, and {HEADERS_MAX} at most are accepted")]
    Headers {
        /// How many were given.
        headers: usize,
    },
    /// Kafka would refuse a record of this size.
    #[error("the record would take {bytes} bytes, and {EVENT_BYTES_MAX} at most are accepted")]
    TooLarge {
        /// The record's size, as [`record_bytes`] counts it.
        bytes: usize,
    },
    /// The database said nothing against the row and did not store it: a `BEFORE INSERT` trigger or a rule took it.
    #[error("the event `{event_id}` for topic `{topic}` was not stored: a trigger or a rule took its row")]
    Swallowed {
        /// The topic that it was meant for.
        topic: String,
        /// Its id.
        event_id: String,
    },
    /// The database did not take the row; the writer's transaction is aborted.
    #[error("the outbox row was not inserted")]
    Database(#[from] tokio_postgres::Error),
    /// The same, as sqlx says it.
    #[cfg(feature = "sqlx")]
    #[error("the outbox row was not inserted")]
    Sqlx(#[from] sqlx::Error),
}

impl AppendError {
    /// The code of a refusal, `None` for a failure of the database.
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Self::Topic { .. }
            | Self::EventId { .. }
            | Self::HeaderName { .. }
            | Self::Headers { .. }
            | Self::TooLarge { .. } => Some(codes::OUTBOX_EVENT_REFUSED),
            Self::Swallowed { .. } => Some(codes::OUTBOX_ROW_SWALLOWED),
            Self::Database(_) => None,
            #[cfg(feature = "sqlx")]
            Self::Sqlx(_) => None,
        }
    }
}

/// [`Outbox::append`] for the outbox in the schema `outbox`.
///
/// # Errors
/// As [`Outbox::append`].
pub async fn append(tx: &impl GenericClient, event: &Event<'_>) -> Result<i64, AppendError> {
    Outbox::default().append(tx, event).await
}

/// Wakes the relay. Call it after the commit. It takes no transaction: one with a NOTIFY takes a lock that serialises every
/// such commit of the whole cluster, and this one's commit waits for no flush.
///
/// # Errors
/// An error is harmless, for the relay polls as well.
pub async fn wake(db: &Client) -> Result<(), tokio_postgres::Error> {
    db.batch_execute(include_str!("append/wake.sql")).await
}

/// The size in bytes of the record that Kafka would get, framing at its largest included.
pub fn record_bytes(event: &Event<'_>) -> usize {
    let headers: usize = event
        .headers
        .iter()
        .map(|(name, value)| HEADER_OVERHEAD_BYTES + name.len() + value.as_ref().map_or(0, Vec::len))
        .sum();
    let body = event.key.map_or(0, <[u8]>::len) + event.payload.map_or(0, <[u8]>::len);
    BATCH_OVERHEAD_BYTES + body + headers
}

pub(crate) fn check(event: &Event<'_>) -> Result<(), AppendError> {
    if !is_topic_name(event.topic) {
        return Err(AppendError::Topic { topic: event.topic.to_owned() });
    }
    if event.event_id.is_empty() || event.event_id.contains('\0') {
        return Err(AppendError::EventId { topic: event.topic.to_owned() });
    }
    if event.headers.len() > HEADERS_MAX {
        return Err(AppendError::Headers { headers: event.headers.len() });
    }
    if let Some((name, _)) = event.headers.iter().find(|(name, _)| !is_header_name(name)) {
        return Err(AppendError::HeaderName { name: name.clone() });
    }
    let bytes = record_bytes(event);
    if bytes > EVENT_BYTES_MAX {
        return Err(AppendError::TooLarge { bytes });
    }
    Ok(())
}

fn is_topic_name(name: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=TOPIC_CHARS_MAX).contains(&name.len()) && name.bytes().all(legal) && name != "." && name != ".."
}

fn is_header_name(name: &str) -> bool {
    (1..=HEADER_NAME_BYTES_MAX).contains(&name.len()) && !name.chars().any(char::is_control)
}

#[cfg(test)]
mod tests;
