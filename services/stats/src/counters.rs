//! From facts to sums.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use tokio_postgres::Transaction;
use waybill_consumer::{Batch, DecodeError, Dedup, Effect, EffectError, EventKey, Poison, Record};
use waybill_contract::{Fact, Schemas, decode_fact};
use waybill_domain::ids::TenantId;
use waybill_domain::job::FactKind;
use waybill_store::counter::{self, Counts, Increment};

/// Counts the facts of the events topic in one generation.
pub struct Counters {
    schemas: Arc<Schemas>,
    generation: i32,
}

impl Counters {
    /// An effect on `generation` that reads facts with `schemas`.
    #[must_use]
    pub fn new(schemas: Arc<Schemas>, generation: i32) -> Self {
        Self { schemas, generation }
    }
}

#[async_trait]
impl Effect for Counters {
    type Event = Fact;

    fn dedup(&self) -> Dedup {
        Dedup::ByInbox
    }

    fn decode(&self, record: &Record) -> Result<Fact, DecodeError> {
        decode_fact(&self.schemas, record.header_pairs(), record.payload.as_deref()).map_err(|error| {
            let (reason, detail) = (error.reason(), error.to_string());
            if error.must_wait() {
                DecodeError::Wait { reason, detail }
            } else {
                Poison { reason, detail }.into()
            }
        })
    }

    fn event_key(&self, event: &Fact) -> EventKey {
        EventKey { source: event.source.clone(), id: event.event_id.clone() }
    }

    async fn apply(&self, tx: &Transaction<'_>, batch: &Batch<'_, Fact>) -> Result<(), EffectError> {
        let increments = sum(batch.events.iter().map(|delivery| &delivery.event));
        counter::add_batch(tx, self.generation, &increments).await.map_err(EffectError::failed)
    }
}

/// What the facts add to each tenant's data sets, in the order of the counters' key.
fn sum<'a>(facts: impl Iterator<Item = &'a Fact>) -> Vec<Increment> {
    let mut sums: BTreeMap<(&TenantId, &str), Counts> = BTreeMap::new();
    for fact in facts {
        let key = (&fact.export.tenant_id, fact.export.dataset.as_str());
        count(sums.entry(key).or_default(), fact);
    }
    sums.into_iter()
        .map(|((tenant_id, dataset), counts)| Increment {
            tenant_id: tenant_id.clone(),
            dataset: dataset.to_owned(),
            counts,
        })
        .collect()
}

/// Rows and bytes count when a result is selected, not again in the facts that follow it.
fn count(counts: &mut Counts, fact: &Fact) {
    match fact.kind {
        FactKind::Requested => counts.requested += 1,
        FactKind::Succeeded => {
            counts.succeeded += 1;
            counts.rows += fact.export.rows.unwrap_or(0);
            counts.bytes += fact.export.bytes.unwrap_or(0);
        }
        FactKind::Failed => counts.failed += 1,
        FactKind::Cancelled => counts.cancelled += 1,
        FactKind::Expired => counts.expired += 1,
        FactKind::Deleted => counts.deleted += 1,
    }
}
