//! Counters, in their generation.
//!
//! They add up, so each fact must reach them once: the consumer records its event key in the same transaction.

use jiff::Timestamp;
use tokio_postgres::GenericClient;
use tokio_postgres::types::Type;
use waybill_domain::ids::TenantId;

use crate::StoreError;

/// How many facts of each type, and what the selected results held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Exports accepted.
    pub requested: i64,
    /// Exports with a result.
    pub succeeded: i64,
    /// Exports that failed.
    pub failed: i64,
    /// Exports that were cancelled.
    pub cancelled: i64,
    /// Results that expired.
    pub expired: i64,
    /// Exports that were deleted.
    pub deleted: i64,
    /// Rows of all results.
    pub rows: i64,
    /// Bytes of all results.
    pub bytes: i64,
}

/// What is to be added for one tenant and data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Increment {
    /// Whose exports.
    pub tenant_id: TenantId,
    /// Of what.
    pub dataset: String,
    /// How many more.
    pub counts: Counts,
}

/// One tenant's counters for one data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counter {
    /// Of what.
    pub dataset: String,
    /// How many.
    pub counts: Counts,
    /// When a fact was last counted.
    pub updated_at: Timestamp,
}

/// One tenant's counters, and in which generation they stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantCounters {
    /// The generation that served.
    pub generation: i32,
    /// By data set.
    pub counters: Vec<Counter>,
}

/// Adds `increments` to a generation's counters. No two of them may be of one tenant and data set.
///
/// # Errors
/// [`StoreError::Postgres`].
pub async fn add_batch(
    db: &impl GenericClient,
    generation: i32,
    increments: &[Increment],
) -> Result<(), StoreError> {
    let column = |count: fn(&Counts) -> i64| -> Vec<i64> {
        increments.iter().map(|increment| count(&increment.counts)).collect()
    };
    let tenants: Vec<&str> = increments.iter().map(|increment| increment.tenant_id.as_str()).collect();
    let datasets: Vec<&str> = increments.iter().map(|increment| increment.dataset.as_str()).collect();
    db.execute_typed(
        include_str!("counter/add_batch.sql"),
        &[
            (&generation, Type::INT4),
            (&tenants, Type::TEXT_ARRAY),
            (&datasets, Type::TEXT_ARRAY),
            (&column(|counts| counts.requested), Type::INT8_ARRAY),
            (&column(|counts| counts.succeeded), Type::INT8_ARRAY),
            (&column(|counts| counts.failed), Type::INT8_ARRAY),
            (&column(|counts| counts.cancelled), Type::INT8_ARRAY),
            (&column(|counts| counts.expired), Type::INT8_ARRAY),
            (&column(|counts| counts.deleted), Type::INT8_ARRAY),
            (&column(|counts| counts.rows), Type::INT8_ARRAY),
            (&column(|counts| counts.bytes), Type::INT8_ARRAY),
        ],
    )
    .await?;
    Ok(())
}

/// One tenant's counters by data set, of the generation that serves.
///
/// # Errors
/// [`StoreError::Postgres`].
pub async fn of_tenant(db: &impl GenericClient, tenant_id: &TenantId) -> Result<TenantCounters, StoreError> {
    let rows =
        db.query_typed(include_str!("counter/of_tenant.sql"), &[(&tenant_id.as_str(), Type::TEXT)]).await?;
    let generation = rows.first().map_or(Ok(0), |row| row.try_get("generation"))?;
    let mut counters = Vec::with_capacity(rows.len());
    for row in &rows {
        let Some(dataset) = row.try_get::<_, Option<String>>("dataset")? else { continue };
        let counts = Counts {
            requested: row.try_get("requested")?,
            succeeded: row.try_get("succeeded")?,
            failed: row.try_get("failed")?,
            cancelled: row.try_get("cancelled")?,
            expired: row.try_get("expired")?,
            deleted: row.try_get("deleted")?,
            rows: row.try_get("rows")?,
            bytes: row.try_get("bytes")?,
        };
        counters.push(Counter { dataset, counts, updated_at: row.try_get("updated_at")? });
    }
    Ok(TenantCounters { generation, counters })
}
