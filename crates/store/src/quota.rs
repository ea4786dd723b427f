//! What a tenant may have and has, counted from its exports themselves: there is no number beside them that could drift.
//!
//! Deliberately absent: deciding whether that is too much, and any limit on what already runs.

use futures_util::future::try_join;
use jiff::Timestamp;
use tokio_postgres::types::Type;
use tokio_postgres::{GenericClient, Row};
use waybill_domain::ids::TenantId;

use crate::StoreError;
use crate::job::Parameter;
use crate::tenant::Limits;

/// What a tenant may have and has, of one snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Used {
    /// What it may have.
    pub limits: Limits,
    /// How many of its exports wait; counted up to its limit and one.
    pub waiting: i64,
    /// How many of its exports run.
    pub running: i64,
    /// How many rows its results of this day have, where that is limited or was asked for.
    pub rows_a_day: Option<i64>,
    /// How many bytes its kept results have, where that is limited or was asked for.
    pub bytes_kept: Option<i64>,
    /// When the day ends.
    pub day_ends_at: Timestamp,
    /// The database's time.
    pub now: Timestamp,
}

impl Used {
    fn from_row(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            limits: Limits::from_row(row)?,
            waiting: row.try_get("waiting_used")?,
            running: row.try_get("running_used")?,
            rows_a_day: row.try_get("rows_a_day_used")?,
            bytes_kept: row.try_get("bytes_kept_used")?,
            day_ends_at: row.try_get("day_ends_at")?,
            now: row.try_get("database_now")?,
        })
    }
}

/// Waits for the tenant's turn, which lasts until the transaction ends, and reads what it has then: with all that was accepted
/// in turns before. One round trip: the statements follow one another without waiting for answers. `None`: no such tenant.
///
/// # Errors
/// [`StoreError`].
pub async fn used_in_turn(tx: &impl GenericClient, tenant_id: &TenantId) -> Result<Option<Used>, StoreError> {
    let tenant: [Parameter<'_>; 1] = [(&tenant_id.as_str(), Type::TEXT)];
    let turn = tx.execute_typed(include_str!("quota/turn.sql"), &tenant);
    let parameters: [Parameter<'_>; 2] = [(&tenant_id.as_str(), Type::TEXT), (&false, Type::BOOL)];
    // Each statement has a snapshot of its own, and the server runs them in the order in which they are sent.
    let used = tx.query_typed_opt(include_str!("quota/used.sql"), &parameters);
    let (_turn, row) = try_join(turn, used).await?;
    row.as_ref().map(Used::from_row).transpose()
}

/// What the tenant has, all of it, without waiting for anybody. `None`: no such tenant.
///
/// # Errors
/// [`StoreError`].
pub async fn used(db: &impl GenericClient, tenant_id: &TenantId) -> Result<Option<Used>, StoreError> {
    let parameters: [Parameter<'_>; 2] = [(&tenant_id.as_str(), Type::TEXT), (&true, Type::BOOL)];
    let row = db.query_typed_opt(include_str!("quota/used.sql"), &parameters).await?;
    row.as_ref().map(Used::from_row).transpose()
}

/// When so many results will have expired that the tenant keeps fewer than `bytes`. `None`: not by expiry alone.
///
/// # Errors
/// [`StoreError`].
pub async fn bytes_free_at(
    db: &impl GenericClient,
    tenant_id: &TenantId,
    bytes: i64,
) -> Result<Option<Timestamp>, StoreError> {
    let parameters: [Parameter<'_>; 2] = [(&tenant_id.as_str(), Type::TEXT), (&bytes, Type::INT8)];
    let row = db.query_typed_one(include_str!("quota/bytes_free_at.sql"), &parameters).await?;
    Ok(row.try_get("free_at")?)
}

/// How many of the tenant's exports came to a result within the last so many seconds.
///
/// # Errors
/// [`StoreError`].
pub async fn ended_lately(
    db: &impl GenericClient,
    tenant_id: &TenantId,
    seconds: i64,
) -> Result<i64, StoreError> {
    let parameters: [Parameter<'_>; 2] = [(&tenant_id.as_str(), Type::TEXT), (&seconds, Type::INT8)];
    Ok(db.query_typed_one(include_str!("quota/ended_lately.sql"), &parameters).await?.try_get("ended")?)
}
