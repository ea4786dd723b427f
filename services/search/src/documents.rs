//! From facts to documents.

use std::collections::BTreeMap;

use async_trait::async_trait;
use tokio_postgres::Transaction;
use waybill_consumer::{Batch, Dedup, EffectError};
use waybill_contract::Fact;
use waybill_domain::job::FactKind;
use waybill_domain::search_text::document_tokens;
use waybill_store::document::{self, Document};
use waybill_subscription::FactEffect;

/// Writes the facts of the events topic into the documents of one generation.
pub struct Documents {
    generation: i32,
}

impl Documents {
    /// An effect on `generation`.
    #[must_use]
    pub const fn new(generation: i32) -> Self {
        Self { generation }
    }
}

#[async_trait]
impl FactEffect for Documents {
    fn dedup(&self) -> Dedup {
        Dedup::ByEffect
    }

    async fn apply(&self, tx: &Transaction<'_>, batch: &Batch<'_, Fact>) -> Result<(), EffectError> {
        let documents: Vec<Document> =
            newest(batch.events.iter().map(|delivery| &delivery.event)).into_iter().map(document).collect();
        document::upsert_batch(tx, self.generation, &documents).await.map_err(EffectError::failed)?;
        Ok(())
    }
}

/// The fact of the highest version of each export: one statement cannot write a row twice.
fn newest<'a>(facts: impl Iterator<Item = &'a Fact>) -> Vec<&'a Fact> {
    let mut newest: BTreeMap<&str, &Fact> = BTreeMap::new();
    for fact in facts {
        let kept = newest.entry(fact.export.export_id.as_str()).or_insert(fact);
        if kept.export.version < fact.export.version {
            *kept = fact;
        }
    }
    newest.into_values().collect()
}

/// A tombstone keeps identity, version and times, and nothing that could be found or read.
fn document(fact: &Fact) -> Document {
    let export = &fact.export;
    let deleted = fact.kind == FactKind::Deleted;
    Document {
        export_id: export.export_id.clone(),
        tenant_id: export.tenant_id.clone(),
        version: export.version,
        deleted,
        state: export.state,
        dataset: export.dataset.clone(),
        format: export.format.clone(),
        name: export.name.clone().filter(|_| !deleted),
        labels: if deleted { BTreeMap::new() } else { export.labels.clone() },
        rows: export.rows,
        bytes: export.bytes,
        accepted_at: export.accepted_at,
        finished_at: export.finished_at,
        tokens: if deleted { String::new() } else { tokens(fact) },
        event_id: fact.event_id.clone(),
    }
}

fn tokens(fact: &Fact) -> String {
    let export = &fact.export;
    let labels = export.labels.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]);
    let texts: Vec<&str> = export
        .name
        .as_deref()
        .into_iter()
        .chain(labels)
        .chain([export.dataset.as_str(), export.export_id.as_str()])
        .collect();
    document_tokens(&texts)
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

    use super::{document, newest};

    fn fact(export: u128, version: i64, kind: FactKind) -> Fact {
        Fact {
            event_id: format!("evt_{version}"),
            source: "urn:test".into(),
            kind,
            time: Timestamp::UNIX_EPOCH,
            export: ExportSnapshot {
                export_id: ExportId::from_uuid(Uuid::from_u128(export)),
                tenant_id: TenantId::from_uuid(Uuid::from_u128(1)),
                service_account_id: ServiceAccountId::from_uuid(Uuid::from_u128(2)),
                version,
                state: if kind == FactKind::Deleted { JobState::Deleted } else { JobState::Pending },
                dataset: "orders".into(),
                format: "csv".into(),
                name: Some("訂單匯出".into()),
                labels: BTreeMap::from([("team".into(), "北區".into())]),
                notify: Vec::new(),
                fence: 0,
                rows: None,
                bytes: None,
                sha256: None,
                result_id: None,
                failure_code: None,
                failure_detail: None,
                accepted_at: Timestamp::UNIX_EPOCH,
                finished_at: None,
            },
        }
    }

    #[test]
    fn a_document_is_found_by_name_labels_data_set_and_id() {
        let document = document(&fact(7, 1, FactKind::Requested));
        for token in ["訂單", "team", "北區", "orders"] {
            assert!(document.tokens.contains(&format!("'{token}':")), "{token} in {}", document.tokens);
        }
        assert!(document.tokens.contains(document.export_id.as_str().trim_start_matches("exp_")));
    }

    #[test]
    fn a_tombstone_holds_nothing_that_could_be_found_or_read() {
        let document = document(&fact(7, 4, FactKind::Deleted));
        assert!(document.deleted);
        assert_eq!((document.version, document.tokens.as_str(), document.name), (4, "", None));
        assert!(document.labels.is_empty());
    }

    proptest! {
        #[test]
        fn a_batch_holds_each_export_once_at_its_highest_version(
            facts in proptest::collection::vec((0_u128..4, 1_i64..6), 0..30),
        ) {
            let mut model = BTreeMap::new();
            for (export, version) in &facts {
                let highest = model.entry(*export).or_insert(*version);
                *highest = (*highest).max(*version);
            }
            let facts: Vec<Fact> =
                facts.into_iter().map(|(export, version)| fact(export, version, FactKind::Requested)).collect();
            let versions: Vec<i64> = newest(facts.iter()).iter().map(|fact| fact.export.version).collect();
            let expected: Vec<i64> = model.into_values().collect();
            prop_assert_eq!(versions, expected);
        }
    }
}
