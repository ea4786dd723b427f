//! Reads one tenant's rows of a data set, counted and copied in one snapshot.
//!
//! Deliberately absent: statement text made in Rust, and returning the connection to its pool. An attempt that is
//! dropped in the middle of a COPY must end it at once, which only closing the connection does.

use std::time::Duration;

use deadpool_postgres::{ClientWrapper, Object, Pool};
use tokio_postgres::CopyOutStream;
use waybill_domain::ids::TenantId;
use waybill_store::dataset::Dataset;

use crate::attempt_error::AttemptError;

/// The longest wait for the next bytes of a data set; its sort, before the first ones, included.
pub(crate) const READ_STALL_MAX_SECONDS: u64 = 600;

/// One snapshot of a data set, held open.
pub(crate) struct Snapshot {
    client: ClientWrapper,
    copy_statement: String,
    rows: i64,
}

impl Snapshot {
    /// Opens a snapshot and counts the tenant's rows in it.
    pub(crate) async fn open(
        pool: &Pool,
        dataset: &Dataset,
        columns: &[String],
        tenant_id: &TenantId,
    ) -> Result<Self, AttemptError> {
        if let Some(column) = columns.iter().find(|column| !dataset.columns.contains(column)) {
            return Err(AttemptError::ColumnUnregistered {
                dataset: dataset.dataset.clone(),
                column: column.clone(),
            });
        }
        let client = Object::take(pool.get().await.map_err(AttemptError::DatasetPool)?);
        bounded(client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")).await?;
        bounded(client.query_one(include_str!("dataset/session.sql"), &[])).await?;
        let statements = client
            .query_one(
                include_str!("dataset/statements.sql"),
                &[
                    &dataset.source_schema,
                    &dataset.source_relation,
                    &dataset.tenant_column,
                    &tenant_id.as_str(),
                    &columns,
                    &dataset.key_columns,
                ],
            )
            .await
            .map_err(AttemptError::Dataset)?;
        let count_statement: &str = statements.try_get("count_statement").map_err(AttemptError::Dataset)?;
        let copy_statement = statements.try_get("copy_statement").map_err(AttemptError::Dataset)?;
        let rows = bounded(client.query_one(count_statement, &[]))
            .await?
            .try_get(0)
            .map_err(AttemptError::Dataset)?;
        Ok(Self { client, copy_statement, rows })
    }

    /// How many rows the tenant has in this snapshot.
    pub(crate) fn rows(&self) -> i64 {
        self.rows
    }

    /// Starts the COPY: CSV with a header, rows in the order of the data set's key.
    pub(crate) async fn copy(&self) -> Result<CopyOutStream, AttemptError> {
        bounded(self.client.copy_out(self.copy_statement.as_str())).await
    }
}

/// Waits for the data set's database, within the bound of a stall.
pub(crate) async fn bounded<T>(
    answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, AttemptError> {
    match tokio::time::timeout(Duration::from_secs(READ_STALL_MAX_SECONDS), answer).await {
        Ok(answer) => answer.map_err(AttemptError::Dataset),
        Err(_elapsed) => Err(AttemptError::DatasetStalled),
    }
}
