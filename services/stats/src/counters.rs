//! From facts to sums.

use std::collections::BTreeMap;

use async_trait::async_trait;
use tokio_postgres::Transaction;
use waybill_consumer::{Batch, Dedup, EffectError};
use waybill_contract::Fact;
use waybill_domain::ids::TenantId;
use waybill_domain::job::FactKind;
use waybill_store::counter::{self, Counts, Increment};
use waybill_subscription::FactEffect;

/// Counts the facts of the events topic in one generation.
pub struct Counters {
    generation: i32,
}

impl Counters {
    /// An effect on `generation`.
    #[must_use]
    pub const fn new(generation: i32) -> Self {
        Self { generation }
    }
}

#[async_trait]
impl FactEffect for Counters {
    fn dedup(&self) -> Dedup {
        Dedup::ByInbox
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use jiff::Timestamp;
    use proptest::prelude::*;
    use uuid::Uuid;
    use waybill_contract::{ExportSnapshot, Fact};
    use waybill_domain::ids::{ExportId, ServiceAccountId, TenantId};
    use waybill_domain::job::{FactKind, JobState};
    use waybill_store::counter::Increment;

    use super::sum;

    fn fact(tenant: u128, dataset: &str, kind: FactKind, rows: i64) -> Fact {
        Fact {
            event_id: "evt".into(),
            source: "urn:test".into(),
            kind,
            time: Timestamp::UNIX_EPOCH,
            export: ExportSnapshot {
                export_id: ExportId::from_uuid(Uuid::from_u128(1)),
                tenant_id: TenantId::from_uuid(Uuid::from_u128(tenant)),
                service_account_id: ServiceAccountId::from_uuid(Uuid::from_u128(2)),
                version: 1,
                state: JobState::Succeeded,
                dataset: dataset.into(),
                format: "csv".into(),
                name: None,
                labels: BTreeMap::new(),
                notify: Vec::new(),
                fence: 1,
                rows: Some(rows),
                bytes: Some(rows * 10),
                sha256: None,
                result_id: None,
                failure_code: None,
                failure_detail: None,
                accepted_at: Timestamp::UNIX_EPOCH,
                finished_at: None,
            },
        }
    }

    fn facts() -> impl Strategy<Value = Vec<Fact>> {
        let kind = prop_oneof![
            Just(FactKind::Requested),
            Just(FactKind::Succeeded),
            Just(FactKind::Failed),
            Just(FactKind::Cancelled),
            Just(FactKind::Expired),
            Just(FactKind::Deleted),
        ];
        let fact = (0_u128..3, prop_oneof!["orders", "users"], kind, 0_i64..1_000)
            .prop_map(|(tenant, dataset, kind, rows)| fact(tenant, &dataset, kind, rows));
        proptest::collection::vec(fact, 0..40)
    }

    fn total(increments: &[Increment], count: impl Fn(&Increment) -> i64) -> i64 {
        increments.iter().map(count).sum()
    }

    proptest! {
        #[test]
        fn every_fact_is_in_the_sums_once_and_keys_come_in_their_order(facts in facts()) {
            let sums = sum(facts.iter());
            let facts_counted = total(&sums, |increment| {
                let counts = increment.counts;
                counts.requested + counts.succeeded + counts.failed + counts.cancelled + counts.expired + counts.deleted
            });
            prop_assert_eq!(usize::try_from(facts_counted).unwrap(), facts.len());
            let results = facts.iter().filter(|fact| fact.kind == FactKind::Succeeded);
            let rows: i64 = results.filter_map(|fact| fact.export.rows).sum();
            prop_assert_eq!(total(&sums, |increment| increment.counts.rows), rows);
            prop_assert_eq!(total(&sums, |increment| increment.counts.bytes), rows * 10);
            let keys: Vec<_> = sums.iter().map(|increment| (&increment.tenant_id, &increment.dataset)).collect();
            prop_assert!(keys.is_sorted() && keys.windows(2).all(|pair| pair[0] != pair[1]));
        }
    }
}
