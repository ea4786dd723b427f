//! Search documents, in their generation.
//!
//! The version of an export, never an offset, orders writes. Deliberately absent: deleting a row. A deleted export stays
//! as a tombstone until its generation retires, so that nothing late brings it back.

use std::collections::BTreeMap;

use jiff::Timestamp;
use tokio_postgres::types::Type;
use tokio_postgres::{GenericClient, Row};
use waybill_domain::ids::{ExportId, TenantId};
use waybill_domain::job::JobState;

use crate::StoreError;

/// An export as a reader can find it.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The export.
    pub export_id: ExportId,
    /// Whose it is; nobody else finds it.
    pub tenant_id: TenantId,
    /// The export's version when it was so.
    pub version: i64,
    /// A tombstone: nobody finds it, and no lower version replaces it.
    pub deleted: bool,
    /// Where the export stood.
    pub state: JobState,
    /// What it exports.
    pub dataset: String,
    /// The file's format.
    pub format: String,
    /// The caller's name for it.
    pub name: Option<String>,
    /// The caller's labels.
    pub labels: BTreeMap<String, String>,
    /// Rows of the selected result.
    pub rows: Option<i64>,
    /// Its size in bytes.
    pub bytes: Option<i64>,
    /// When the export was accepted.
    pub accepted_at: Timestamp,
    /// When it reached its outcome.
    pub finished_at: Option<Timestamp>,
    /// What it is found by: `waybill_domain::search_text::document_tokens`.
    pub tokens: String,
    /// The fact that said all this.
    pub event_id: String,
}

/// A document that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The export.
    pub export_id: ExportId,
    /// Its version when the document was written.
    pub version: i64,
    /// Where it stood.
    pub state: JobState,
    /// What it exports.
    pub dataset: String,
    /// The file's format.
    pub format: String,
    /// The caller's name for it.
    pub name: Option<String>,
    /// The caller's labels.
    pub labels: BTreeMap<String, String>,
    /// Rows of the selected result.
    pub rows: Option<i64>,
    /// Its size in bytes.
    pub bytes: Option<i64>,
    /// When the export was accepted.
    pub accepted_at: Timestamp,
    /// When it reached its outcome.
    pub finished_at: Option<Timestamp>,
}

/// What a search found, and in which generation.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The generation that served.
    pub generation: i32,
    /// Newest first.
    pub hits: Vec<Hit>,
}

/// Writes documents into a generation, each only over a lower version, and answers how many were written. No two of
/// `documents` may be of one export.
///
/// # Errors
/// [`StoreError::Postgres`].
pub async fn upsert_batch(
    db: &impl GenericClient,
    generation: i32,
    documents: &[Document],
) -> Result<u64, StoreError> {
    fn column<'a, T>(documents: &'a [Document], field: impl Fn(&'a Document) -> T) -> Vec<T> {
        documents.iter().map(field).collect()
    }
    let labels = column(documents, |document| serde_json::json!(document.labels));
    let written = db
        .execute_typed(
            include_str!("document/upsert_batch.sql"),
            &[
                (&generation, Type::INT4),
                (&column(documents, |document| document.export_id.as_str()), Type::TEXT_ARRAY),
                (&column(documents, |document| document.tenant_id.as_str()), Type::TEXT_ARRAY),
                (&column(documents, |document| document.version), Type::INT8_ARRAY),
                (&column(documents, |document| document.deleted), Type::BOOL_ARRAY),
                (&column(documents, |document| document.state.as_str()), Type::TEXT_ARRAY),
                (&column(documents, |document| document.dataset.as_str()), Type::TEXT_ARRAY),
                (&column(documents, |document| document.format.as_str()), Type::TEXT_ARRAY),
                (&column(documents, |document| document.name.as_deref()), Type::TEXT_ARRAY),
                (&labels, Type::JSONB_ARRAY),
                (&column(documents, |document| document.rows), Type::INT8_ARRAY),
                (&column(documents, |document| document.bytes), Type::INT8_ARRAY),
                (&column(documents, |document| document.accepted_at), Type::TIMESTAMPTZ_ARRAY),
                (&column(documents, |document| document.finished_at), Type::TIMESTAMPTZ_ARRAY),
                (&column(documents, |document| document.tokens.as_str()), Type::TEXT_ARRAY),
                (&column(documents, |document| document.event_id.as_str()), Type::TEXT_ARRAY),
            ],
        )
        .await?;
    Ok(written)
}

/// What a tenant's documents hold of `query` (see `waybill_domain::search_text::query`), newest first, `limit` at most.
///
/// # Errors
/// [`StoreError::Postgres`], also for a query that is none, and [`StoreError::Decode`].
pub async fn search(
    db: &impl GenericClient,
    tenant_id: &TenantId,
    query: &str,
    limit: i64,
) -> Result<Found, StoreError> {
    // An unnamed statement: a prepared one would soon run by a generic plan, which knows nothing of the words.
    let rows = db
        .query_typed(
            include_str!("document/search.sql"),
            &[(&tenant_id.as_str(), Type::TEXT), (&query, Type::TEXT), (&limit, Type::INT8)],
        )
        .await?;
    let generation = rows.first().map_or(Ok(0), |row| row.try_get("generation"))?;
    let hits = rows.iter().filter_map(|row| hit(row).transpose()).collect::<Result<_, _>>()?;
    Ok(Found { generation, hits })
}

/// The hit in a row; `None` in the row that says only which generation served.
fn hit(row: &Row) -> Result<Option<Hit>, StoreError> {
    let Some(export_id) = row.try_get::<_, Option<&str>>("export_id")? else { return Ok(None) };
    let state: &str = row.try_get("state")?;
    let labels: serde_json::Value = row.try_get("labels")?;
    Ok(Some(Hit {
        export_id: ExportId::parse(export_id)
            .map_err(|error| unknown("documents.export_id", error.to_string()))?,
        version: row.try_get("version")?,
        state: JobState::parse(state).ok_or_else(|| unknown("documents.state", state.to_owned()))?,
        dataset: row.try_get("dataset")?,
        format: row.try_get("format")?,
        name: row.try_get("name")?,
        labels: serde_json::from_value(labels)
            .map_err(|error| unknown("documents.labels", error.to_string()))?,
        rows: row.try_get("rows")?,
        bytes: row.try_get("bytes")?,
        accepted_at: row.try_get("accepted_at")?,
        finished_at: row.try_get("finished_at")?,
    }))
}

fn unknown(column: &'static str, detail: String) -> StoreError {
    StoreError::Decode { column, detail }
}
