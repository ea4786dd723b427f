//! Who owns exports: `export.tenants`.

use jiff::Timestamp;
use tokio_postgres::{GenericClient, Row};
use waybill_domain::ids::TenantId;

use crate::StoreError;
use crate::job::decode;

/// A tenant as its row says it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tenant {
    /// The tenant.
    pub tenant_id: TenantId,
    /// What people call it; unique.
    pub name: String,
    /// Whether its keys work.
    pub state: TenantState,
    /// What it may have.
    pub limits: Limits,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What a tenant may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How many of its exports may run at once.
    pub running: i32,
    /// How many of its exports may wait at once.
    pub waiting: i32,
    /// How many rows its results of one UTC day may have; absent: any number.
    pub rows_a_day: Option<i64>,
    /// How many bytes its kept results may have; absent: any number.
    pub bytes_kept: Option<i64>,
}

impl Limits {
    /// The limits of a row of `export.tenants`.
    pub(crate) fn from_row(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            running: row.try_get("running_limit")?,
            waiting: row.try_get("waiting_limit")?,
            rows_a_day: row.try_get("rows_a_day_limit")?,
            bytes_kept: row.try_get("bytes_kept_limit")?,
        })
    }
}

/// Whether a tenant's keys work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TenantState {
    /// They do.
    Active,
    /// They do not.
    Suspended,
}

impl TenantState {
    /// Every state.
    pub const ALL: [Self; 2] = [Self::Active, Self::Suspended];

    /// The state as it is stored and answered.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Suspended => "suspended",
        }
    }

    fn parse(text: &str) -> Result<Self, &'static str> {
        Self::ALL.into_iter().find(|state| state.as_str() == text).ok_or("not a state")
    }
}

impl Tenant {
    fn from_row(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            tenant_id: decode("tenants.tenant_id", row.try_get("tenant_id")?, TenantId::parse)?,
            name: row.try_get("name")?,
            state: decode("tenants.state", row.try_get("state")?, TenantState::parse)?,
            limits: Limits::from_row(row)?,
            created_at: row.try_get("created_at")?,
        })
    }
}

/// Makes a tenant, or answers `None` where the name is taken.
///
/// # Errors
/// [`StoreError`].
pub async fn insert(
    db: &impl GenericClient,
    tenant_id: &TenantId,
    name: &str,
    running_limit: i32,
) -> Result<Option<Tenant>, StoreError> {
    let row = db
        .query_opt(include_str!("tenant/insert.sql"), &[&tenant_id.as_str(), &name, &running_limit])
        .await?;
    row.as_ref().map(Tenant::from_row).transpose()
}

/// One tenant.
///
/// # Errors
/// [`StoreError`].
pub async fn find(db: &impl GenericClient, tenant_id: &TenantId) -> Result<Option<Tenant>, StoreError> {
    let row = db.query_opt(include_str!("tenant/find.sql"), &[&tenant_id.as_str()]).await?;
    row.as_ref().map(Tenant::from_row).transpose()
}

/// One tenant, its row locked until the transaction ends.
///
/// # Errors
/// [`StoreError`].
pub async fn lock(tx: &impl GenericClient, tenant_id: &TenantId) -> Result<Option<Tenant>, StoreError> {
    let row = tx.query_opt(include_str!("tenant/lock.sql"), &[&tenant_id.as_str()]).await?;
    row.as_ref().map(Tenant::from_row).transpose()
}

/// Sets all that a tenant may have, or answers `None` where there is no such tenant.
///
/// # Errors
/// [`StoreError`], also for a limit beyond what the columns' CHECKs let be.
pub async fn limit(
    tx: &impl GenericClient,
    tenant_id: &TenantId,
    limits: Limits,
) -> Result<Option<Tenant>, StoreError> {
    let Limits { running, waiting, rows_a_day, bytes_kept } = limits;
    let row = tx
        .query_opt(
            include_str!("tenant/limit.sql"),
            &[&tenant_id.as_str(), &running, &waiting, &rows_a_day, &bytes_kept],
        )
        .await?;
    row.as_ref().map(Tenant::from_row).transpose()
}

/// At most `limit` tenants, in the order of their ids, after this one.
///
/// # Errors
/// [`StoreError`].
pub async fn list(
    db: &impl GenericClient,
    after: Option<&TenantId>,
    limit: i64,
) -> Result<Vec<Tenant>, StoreError> {
    let after = after.map_or("", TenantId::as_str);
    let rows = db.query(include_str!("tenant/list.sql"), &[&after, &limit]).await?;
    rows.iter().map(Tenant::from_row).collect()
}

/// Suspends a tenant, or answers `None` where there is no such tenant.
///
/// # Errors
/// [`StoreError`].
pub async fn suspend(tx: &impl GenericClient, tenant_id: &TenantId) -> Result<Option<Tenant>, StoreError> {
    let row = tx.query_opt(include_str!("tenant/suspend.sql"), &[&tenant_id.as_str()]).await?;
    row.as_ref().map(Tenant::from_row).transpose()
}

/// Lets a suspended tenant go on, or answers `None` where there is no such tenant.
///
/// # Errors
/// [`StoreError`].
pub async fn resume(tx: &impl GenericClient, tenant_id: &TenantId) -> Result<Option<Tenant>, StoreError> {
    let row = tx.query_opt(include_str!("tenant/resume.sql"), &[&tenant_id.as_str()]).await?;
    row.as_ref().map(Tenant::from_row).transpose()
}
