//! The outbox's daily partitions, which are made far ahead because there is no default one.

use tokio_postgres::GenericClient;

use crate::StoreError;

/// Makes the partitions of today and of `days_ahead` days, and answers how many were missing.
///
/// # Errors
/// Postgres refused, also for a number of days out of the function's bounds.
pub async fn ensure(db: &impl GenericClient, days_ahead: i32) -> Result<i32, StoreError> {
    let row = db.query_one(include_str!("partition/ensure.sql"), &[&days_ahead]).await?;
    Ok(row.try_get("made")?)
}

/// How many days after today (UTC) have a partition, without a gap.
///
/// # Errors
/// Postgres refused the statement.
pub async fn days_ahead(db: &impl GenericClient) -> Result<i64, StoreError> {
    let row = db.query_one(include_str!("partition/days_ahead.sql"), &[]).await?;
    Ok(row.try_get("days_ahead")?)
}
