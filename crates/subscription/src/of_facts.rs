//! Effects of facts: how a record of the events topic is read, and what identifies it, is the same for all of them.

use async_trait::async_trait;
use tokio_postgres::Transaction;
use waybill_consumer::{Batch, DecodeError, Dedup, Effect, EffectError, EventKey, Record};
use waybill_contract::{Fact, Fingerprint, SchemaError, Schemas};

use crate::reading::{fact_key, read_fact};

/// What a consumer group does with facts.
#[async_trait]
pub trait FactEffect: Send + Sync + 'static {
    /// How copies are kept harmless.
    fn dedup(&self) -> Dedup;

    /// Applies a batch, as [`Effect::apply`] does.
    ///
    /// # Errors
    /// See [`EffectError`].
    async fn apply(&self, tx: &Transaction<'_>, batch: &Batch<'_, Fact>) -> Result<(), EffectError>;
}

/// An effect of facts, as the consumer takes it.
pub struct OfFacts<E> {
    schemas: Schemas,
    effect: E,
}

impl<E: FactEffect> OfFacts<E> {
    /// Reads facts by the embedded schemas.
    ///
    /// # Errors
    /// They cannot be used.
    pub fn new(effect: E) -> Result<Self, SchemaError> {
        Ok(Self { schemas: Schemas::embedded()?, effect })
    }
}

#[async_trait]
impl<E: FactEffect> Effect for OfFacts<E> {
    type Event = Fact;

    fn dedup(&self) -> Dedup {
        self.effect.dedup()
    }

    fn decode(&self, record: &Record) -> Result<Fact, DecodeError> {
        read_fact(&self.schemas, record)
    }

    fn event_key(&self, event: &Fact) -> EventKey {
        fact_key(event)
    }

    fn fingerprint(&self, event: &Fact) -> Option<Vec<u8>> {
        Some(Fingerprint::of(event).to_bytes())
    }

    async fn apply(&self, tx: &Transaction<'_>, batch: &Batch<'_, Fact>) -> Result<(), EffectError> {
        self.effect.apply(tx, batch).await
    }
}
