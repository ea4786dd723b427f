//! What a service does with its records: the one trait that it writes.

use std::error::Error;

use async_trait::async_trait;
use tokio_postgres::Transaction;

use crate::record::Record;

/// The identity of one event, compared byte for byte, whatever envelope carried it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventKey {
    /// Who said it.
    pub source: String,
    /// Its id, unique within the source.
    pub id: String,
}

/// How a second copy of an event is kept from having a second effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dedup {
    /// The effect adds up: event keys are recorded in `inbox`, and only new ones reach [`Effect::apply`].
    ByInbox,
    /// The effect itself makes a copy harmless, for instance by versions.
    ByEffect,
}

/// A record that can never be applied. It is parked whole in the transaction that moves the position past it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}: {detail}")]
pub struct Poison {
    /// A kebab-case slug.
    pub reason: &'static str,
    /// What is wrong with it, for a person. Never a payload.
    pub detail: String,
}

/// Why a record gave no event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// It never will: park it.
    #[error(transparent)]
    Poison(#[from] Poison),
    /// It may later (its schema is not known here yet): the partition waits, degraded, and tries again.
    #[error("{reason}: {detail}")]
    Wait {
        /// A kebab-case slug.
        reason: &'static str,
        /// What is being waited for.
        detail: String,
    },
}

/// Why a batch was not applied.
#[derive(Debug, thiserror::Error)]
pub enum EffectError {
    /// One record is refused for good: the batch is rolled back and applied again with that record parked.
    #[error("{reason} at offset {offset}: {detail}")]
    Poison {
        /// The record's offset.
        offset: i64,
        /// A kebab-case slug.
        reason: &'static str,
        /// What is wrong with it, for a person. Never a payload.
        detail: String,
    },
    /// Anything else: rolled back and tried again, and what a Postgres error in its chain of causes says decides how.
    #[error("the effect failed")]
    Failed(#[source] Box<dyn Error + Send + Sync>),
}

impl EffectError {
    /// Wraps a cause; its chain is kept.
    pub fn failed(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Failed(cause.into())
    }
}

impl From<tokio_postgres::Error> for EffectError {
    fn from(cause: tokio_postgres::Error) -> Self {
        Self::failed(cause)
    }
}

/// One decoded record.
#[derive(Debug)]
pub struct Delivery<T> {
    /// Where in the partition it lay.
    pub offset: i64,
    /// Milliseconds since the epoch, as the topic stamps its records.
    pub timestamp_ms: Option<i64>,
    /// What [`Effect::decode`] made of it.
    pub event: T,
}

/// What one transaction applies: events of one partition, in offset order, already deduplicated where the effect asked
/// for it. Never empty.
#[derive(Debug)]
pub struct Batch<'a, T> {
    /// The consumer group that applies it.
    pub group: &'a str,
    /// The topic's name, prefix included.
    pub topic: &'a str,
    /// The topic's id, as Kafka writes it (base64); another one means another topic of the same name.
    pub topic_id: &'a str,
    /// The partition.
    pub partition: i32,
    /// The position that the same transaction stores.
    pub next_offset: i64,
    /// The events with their offsets.
    pub events: Vec<&'a Delivery<T>>,
}

/// What a consumer group does with a topic.
#[async_trait]
pub trait Effect: Send + Sync + 'static {
    /// What a record means.
    type Event: Send + Sync + 'static;

    /// How copies are kept harmless.
    fn dedup(&self) -> Dedup;

    /// Reads a record. Pure: it may be called again for the same record.
    ///
    /// # Errors
    /// [`DecodeError::Poison`] parks the record, [`DecodeError::Wait`] holds its partition.
    fn decode(&self, record: &Record) -> Result<Self::Event, DecodeError>;

    /// The identity that `inbox` records.
    fn event_key(&self, event: &Self::Event) -> EventKey;

    /// What the event says, shortened to bytes of which the first names the way of shortening. Two events with one key and, in
    /// the same way, other bytes are not copies of each other: the second one is parked. `None`: copies are taken on trust.
    fn fingerprint(&self, event: &Self::Event) -> Option<Vec<u8>> {
        let _not_asked = event;
        None
    }

    /// Applies a batch inside the transaction that moves the position. It must do nothing that a rollback would not
    /// undo.
    ///
    /// # Errors
    /// See [`EffectError`].
    async fn apply(&self, tx: &Transaction<'_>, batch: &Batch<'_, Self::Event>) -> Result<(), EffectError>;
}
