//! What can be exported: `export.datasets`, and what the data sets' own database says about a relation.

use jiff::Timestamp;
use tokio_postgres::types::Type;
use tokio_postgres::{GenericClient, Row};

use crate::StoreError;

/// A registered data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dataset {
    /// Its name, as callers ask for it.
    pub dataset: String,
    /// The schema of its relation.
    pub source_schema: String,
    /// The table or view that holds its rows.
    pub source_relation: String,
    /// The column that says whose a row is.
    pub tenant_column: String,
    /// The columns that order its rows, together unique.
    pub key_columns: Vec<String>,
    /// The columns that callers may export, in order.
    pub columns: Vec<String>,
    /// When it was registered.
    pub created_at: Timestamp,
}

/// A data set to be registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDataset {
    /// Its name, as callers will ask for it.
    pub dataset: String,
    /// The schema of its relation.
    pub source_schema: String,
    /// The table or view that holds its rows.
    pub source_relation: String,
    /// The column that says whose a row is.
    pub tenant_column: String,
    /// The columns that order its rows, together unique.
    pub key_columns: Vec<String>,
    /// The columns that callers may export, in order.
    pub columns: Vec<String>,
}

/// Whether a login role may read a relation, and what would let it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceAccess {
    /// There is such a role.
    pub role_exists: bool,
    /// It may look into the schema.
    pub may_use_schema: bool,
    /// It may read the relation.
    pub may_select: bool,
    /// The statement that lets it look into the schema.
    pub grant_schema: String,
    /// The statement that lets it read the relation.
    pub grant_select: String,
}

impl SourceAccess {
    /// The statements that the role lacks to read the relation; none when it may.
    #[must_use]
    pub fn missing_grants(&self) -> Vec<&str> {
        let grants = [(self.may_use_schema, &self.grant_schema), (self.may_select, &self.grant_select)];
        grants.into_iter().filter(|(may, _)| !may).map(|(_, grant)| grant.as_str()).collect()
    }
}

impl Dataset {
    /// Reads a data set from a row that holds all of its columns, by their names.
    ///
    /// # Errors
    /// [`StoreError::Postgres`] for a column that is missing.
    pub fn from_row(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            dataset: row.try_get("dataset")?,
            source_schema: row.try_get("source_schema")?,
            source_relation: row.try_get("source_relation")?,
            tenant_column: row.try_get("tenant_column")?,
            key_columns: row.try_get("key_columns")?,
            columns: row.try_get("columns")?,
            created_at: row.try_get("created_at")?,
        })
    }
}

/// Registers a data set, or answers `None` where one of that name is registered already.
///
/// # Errors
/// [`StoreError`].
pub async fn insert(db: &impl GenericClient, new: &NewDataset) -> Result<Option<Dataset>, StoreError> {
    let row = db
        .query_opt(
            include_str!("dataset/insert.sql"),
            &[
                &new.dataset,
                &new.source_schema,
                &new.source_relation,
                &new.tenant_column,
                &new.key_columns,
                &new.columns,
            ],
        )
        .await?;
    row.as_ref().map(Dataset::from_row).transpose()
}

/// One data set.
///
/// # Errors
/// [`StoreError`].
pub async fn find(db: &impl GenericClient, dataset: &str) -> Result<Option<Dataset>, StoreError> {
    let row = db.query_typed_opt(include_str!("dataset/find.sql"), &[(&dataset, Type::TEXT)]).await?;
    row.as_ref().map(Dataset::from_row).transpose()
}

/// At most `limit` data sets, in the order of their names, after this one.
///
/// # Errors
/// [`StoreError`].
pub async fn list(
    db: &impl GenericClient,
    after: Option<&str>,
    limit: i64,
) -> Result<Vec<Dataset>, StoreError> {
    let rows = db.query(include_str!("dataset/list.sql"), &[&after.unwrap_or(""), &limit]).await?;
    rows.iter().map(Dataset::from_row).collect()
}

/// The columns of a relation of the data sets' database, in their order; none where there is no such relation.
///
/// # Errors
/// [`StoreError`].
pub async fn source_columns(
    source: &impl GenericClient,
    schema: &str,
    relation: &str,
) -> Result<Vec<String>, StoreError> {
    let rows = source.query(include_str!("dataset/source_columns.sql"), &[&schema, &relation]).await?;
    rows.iter().map(|row| Ok(row.try_get("column_name")?)).collect()
}

/// What a column of the data sets' database holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnType {
    /// The type as Postgres writes it, such as `character varying(64)`.
    pub name: String,
    /// Whether it is text, varchar, char, or a domain over one of them.
    pub is_text: bool,
}

/// The type of a column of the data sets' database, or `None` where there is no such column.
///
/// # Errors
/// [`StoreError`].
pub async fn source_column_type(
    source: &impl GenericClient,
    schema: &str,
    relation: &str,
    column: &str,
) -> Result<Option<ColumnType>, StoreError> {
    let statement = include_str!("dataset/source_column_type.sql");
    let Some(row) = source.query_opt(statement, &[&schema, &relation, &column]).await? else {
        return Ok(None);
    };
    Ok(Some(ColumnType { name: row.try_get("type_name")?, is_text: row.try_get("is_text")? }))
}

/// What a login role may do with a relation of the data sets' database, or `None` where there is no such relation.
///
/// # Errors
/// [`StoreError`].
pub async fn source_access(
    source: &impl GenericClient,
    schema: &str,
    relation: &str,
    role: &str,
) -> Result<Option<SourceAccess>, StoreError> {
    let row =
        source.query_opt(include_str!("dataset/source_access.sql"), &[&schema, &relation, &role]).await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(SourceAccess {
        role_exists: row.try_get("role_exists")?,
        may_use_schema: row.try_get("may_use_schema")?,
        may_select: row.try_get("may_select")?,
        grant_schema: row.try_get("grant_schema")?,
        grant_select: row.try_get("grant_select")?,
    }))
}
