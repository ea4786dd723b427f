//! The claim of the next due job under a fence and a lease, and the completion that only the fence's holder can make.
//!
//! One claim is one transaction that calls, in this order, [`next_tenant`], [`running`], [`due_job`], then
//! `job::store_decision` with what the lifecycle decided, and [`mark_tenant`]. Deliberately absent: waiting. A row
//! that somebody else holds is skipped, because whoever holds it is doing this very work.

use jiff::Timestamp;
use tokio_postgres::GenericClient;
use waybill_domain::ids::{CandidateId, TenantId};
use waybill_domain::job::Decision;

use crate::StoreError;
use crate::job::Job;

/// The tenant whose turn it is, its row locked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// The tenant.
    pub tenant_id: TenantId,
    /// How many of its jobs may run at once.
    pub running_limit: i64,
}

/// A job that is due, its row locked, and the time at which it was found due.
#[derive(Debug, Clone, PartialEq)]
pub struct Due {
    /// The job as it stands under the lock.
    pub job: Job,
    /// The database's time.
    pub now: Timestamp,
}

/// Picks and locks the tenant whose turn it is: active, with due work and a free slot, fewest running first, then
/// least recently claimed. `tried` are left out. `None`: there is none, or others hold all of them.
///
/// # Errors
/// Postgres refused, or the row could not be decoded.
pub async fn next_tenant(db: &impl GenericClient, tried: &[TenantId]) -> Result<Option<Turn>, StoreError> {
    let tried: Vec<&str> = tried.iter().map(TenantId::as_str).collect();
    let Some(row) = db.query_opt(include_str!("claim/next_tenant.sql"), &[&tried]).await? else {
        return Ok(None);
    };
    let tenant_id: &str = row.try_get("tenant_id")?;
    let running_limit: i32 = row.try_get("running_limit")?;
    Ok(Some(Turn {
        tenant_id: TenantId::parse(tenant_id)
            .map_err(|error| StoreError::Decode { column: "tenants.tenant_id", detail: error.to_string() })?,
        running_limit: running_limit.into(),
    }))
}

/// How many jobs of a tenant hold a live lease. Exact only under the tenant's lock, and in a statement after the one
/// that took it: only then does the snapshot hold what the lock's last holder committed.
///
/// # Errors
/// Postgres refused the statement.
pub async fn running(db: &impl GenericClient, tenant_id: &TenantId) -> Result<i64, StoreError> {
    let row = db.query_one(include_str!("claim/running.sql"), &[&tenant_id.as_str()]).await?;
    Ok(row.try_get("running")?)
}

/// Picks and locks a tenant's next due job: running with its lease over, or else the one that is due for longest.
///
/// # Errors
/// Postgres refused, or the row could not be decoded.
pub async fn due_job(db: &impl GenericClient, tenant_id: &TenantId) -> Result<Option<Due>, StoreError> {
    let Some(row) = db.query_opt(include_str!("claim/due_job.sql"), &[&tenant_id.as_str()]).await? else {
        return Ok(None);
    };
    Ok(Some(Due { job: Job::from_row(&row)?, now: row.try_get("database_now")? }))
}

/// Records that it was this tenant's turn.
///
/// # Errors
/// Postgres refused the statement.
pub async fn mark_tenant(db: &impl GenericClient, tenant_id: &TenantId) -> Result<(), StoreError> {
    db.execute(include_str!("claim/mark_tenant.sql"), &[&tenant_id.as_str()]).await?;
    Ok(())
}

/// The database's time, for a decision about a row that this transaction has locked.
///
/// # Errors
/// Postgres refused the statement.
pub async fn database_now(db: &impl GenericClient) -> Result<Timestamp, StoreError> {
    let row = db.query_one(include_str!("claim/database_now.sql"), &[]).await?;
    Ok(row.try_get("database_now")?)
}

/// Stores a decided completion and its result where fence, state and version still stand. `None`: they do not,
/// nothing was changed.
///
/// # Errors
/// Postgres refused, or the row could not be decoded.
pub async fn complete(
    db: &impl GenericClient,
    job: &Job,
    decision: &Decision,
    result: &CandidateId,
) -> Result<Option<Job>, StoreError> {
    let (before, after) = (&job.lifecycle, &decision.next);
    let row = db
        .query_opt(
            include_str!("claim/complete.sql"),
            &[
                &job.export_id.as_str(),
                &before.fence,
                &before.state.as_str(),
                &before.version,
                &after.state.as_str(),
                &after.version,
                &result.as_str(),
                &after.expires_at,
            ],
        )
        .await?;
    row.as_ref().map(Job::from_row).transpose()
}
