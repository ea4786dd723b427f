//! The facts published about an export: `export.facts`, one row a version.
//!
//! Deliberately absent: the fact's content. It is in the outbox, and in Kafka; this table says which facts there are.

use tokio_postgres::GenericClient;
use tokio_postgres::types::Type;
use waybill_domain::ids::ExportId;
use waybill_domain::job::FactKind;

use crate::StoreError;

/// A fact as its table keeps it.
#[derive(Debug, Clone, Copy)]
pub struct NewFact<'a> {
    /// The export that it is about.
    pub export_id: &'a ExportId,
    /// The export's version since this fact.
    pub version: i64,
    /// The CloudEvents `id`.
    pub event_id: &'a str,
    /// What became true.
    pub kind: FactKind,
    /// The outbox row that carries it.
    pub outbox_seq: i64,
}

/// Records a fact, in the transaction that wrote its outbox row and the export's new version.
///
/// # Errors
/// [`StoreError::Postgres`], also where the export already has a fact of this version.
pub async fn insert(tx: &impl GenericClient, fact: NewFact<'_>) -> Result<(), StoreError> {
    tx.execute_typed(
        include_str!("fact/insert.sql"),
        &[
            (&fact.export_id.as_str(), Type::TEXT),
            (&fact.version, Type::INT8),
            (&fact.event_id, Type::TEXT),
            (&fact.kind.type_name(), Type::TEXT),
            (&fact.outbox_seq, Type::INT8),
        ],
    )
    .await?;
    Ok(())
}

/// Which of these facts, by their CloudEvents `id`, were never recorded: after a restore, those that the log alone holds.
///
/// # Errors
/// [`StoreError::Postgres`].
pub async fn unknown(db: &impl GenericClient, event_ids: &[&str]) -> Result<Vec<String>, StoreError> {
    let rows = db.query_typed(include_str!("fact/unknown.sql"), &[(&event_ids, Type::TEXT_ARRAY)]).await?;
    Ok(rows.iter().map(|row| row.try_get("event_id")).collect::<Result<_, _>>()?)
}
