//! What can be exported: `export.dataset_revisions`, every state of every data set, for ever.
//!
//! Deliberately absent: what a declaration says, which `waybill-datasets` reads, and any way to change a revision.

use jiff::Timestamp;
use serde_json::Value;
use tokio_postgres::types::Type;
use tokio_postgres::{GenericClient, Row};

use crate::StoreError;
use crate::job::Parameter;

/// One state of a data set.
#[derive(Debug, Clone, PartialEq)]
pub struct DatasetRevision {
    /// The data set's name, as callers ask for it.
    pub dataset: String,
    /// From 1, one more with each change.
    pub revision: i64,
    /// What its file declared.
    pub declaration: Value,
    /// Its columns with their types.
    pub columns: Value,
    /// Who applied it.
    pub applied_by: String,
    /// When.
    pub applied_at: Timestamp,
}

/// A state that is to be the next one of its data set.
#[derive(Debug, Clone, Copy)]
pub struct NewRevision<'a> {
    /// The data set's name.
    pub dataset: &'a str,
    /// One more than the last one's.
    pub revision: i64,
    /// What its file declares.
    pub declaration: &'a Value,
    /// Its columns with their types.
    pub columns: &'a Value,
    /// Who applies it.
    pub applied_by: &'a str,
}

impl DatasetRevision {
    fn from_row(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            dataset: row.try_get("dataset")?,
            revision: row.try_get("revision")?,
            declaration: row.try_get("declaration")?,
            columns: row.try_get("columns")?,
            applied_by: row.try_get("applied_by")?,
            applied_at: row.try_get("applied_at")?,
        })
    }
}

/// Stores a revision, or answers `None` where the data set has one of that number already.
///
/// # Errors
/// [`StoreError`].
pub async fn insert(
    db: &impl GenericClient,
    new: NewRevision<'_>,
) -> Result<Option<DatasetRevision>, StoreError> {
    let statement = include_str!("dataset/insert.sql");
    let NewRevision { dataset, revision, declaration, columns, applied_by } = new;
    let row = db.query_opt(statement, &[&dataset, &revision, declaration, columns, &applied_by]).await?;
    row.as_ref().map(DatasetRevision::from_row).transpose()
}

/// One revision of a data set.
///
/// # Errors
/// [`StoreError`].
pub async fn find(
    db: &impl GenericClient,
    dataset: &str,
    revision: i64,
) -> Result<Option<DatasetRevision>, StoreError> {
    let parameters: [Parameter<'_>; 2] = [(&dataset, Type::TEXT), (&revision, Type::INT8)];
    let row = db.query_typed_opt(include_str!("dataset/find.sql"), &parameters).await?;
    row.as_ref().map(DatasetRevision::from_row).transpose()
}

/// The last revision of a data set.
///
/// # Errors
/// [`StoreError`].
pub async fn latest(db: &impl GenericClient, dataset: &str) -> Result<Option<DatasetRevision>, StoreError> {
    let row = db.query_typed_opt(include_str!("dataset/latest.sql"), &[(&dataset, Type::TEXT)]).await?;
    row.as_ref().map(DatasetRevision::from_row).transpose()
}

/// The last revisions of at most `limit` data sets, in the order of their names, after this one.
///
/// # Errors
/// [`StoreError`].
pub async fn list(
    db: &impl GenericClient,
    after: Option<&str>,
    limit: i64,
) -> Result<Vec<DatasetRevision>, StoreError> {
    let rows = db.query(include_str!("dataset/list.sql"), &[&after.unwrap_or(""), &limit]).await?;
    rows.iter().map(DatasetRevision::from_row).collect()
}
