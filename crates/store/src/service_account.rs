//! Who calls: `export.service_accounts`. Intents belong to it, and keys are only its passwords.

use jiff::Timestamp;
use tokio_postgres::{GenericClient, Row};
use waybill_domain::ids::{ServiceAccountId, TenantId};

use crate::StoreError;
use crate::job::decode;

/// A service account as its row says it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceAccount {
    /// The service account.
    pub service_account_id: ServiceAccountId,
    /// Whose it is; absent for an operator's.
    pub tenant_id: Option<TenantId>,
    /// What people call it; unique within its tenant.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
}

impl ServiceAccount {
    fn from_row(row: &Row) -> Result<Self, StoreError> {
        let tenant_id: Option<&str> = row.try_get("tenant_id")?;
        Ok(Self {
            service_account_id: decode(
                "service_accounts.service_account_id",
                row.try_get("service_account_id")?,
                ServiceAccountId::parse,
            )?,
            tenant_id: tenant_id
                .map(|text| decode("service_accounts.tenant_id", text, TenantId::parse))
                .transpose()?,
            name: row.try_get("name")?,
            created_at: row.try_get("created_at")?,
        })
    }
}

/// Makes a service account, or answers `None` where its tenant has one of that name.
///
/// # Errors
/// [`StoreError`], also where there is no such tenant.
pub async fn insert(
    db: &impl GenericClient,
    service_account_id: &ServiceAccountId,
    tenant_id: Option<&TenantId>,
    name: &str,
) -> Result<Option<ServiceAccount>, StoreError> {
    let tenant_id = tenant_id.map(TenantId::as_str);
    let row = db
        .query_opt(
            include_str!("service_account/insert.sql"),
            &[&service_account_id.as_str(), &tenant_id, &name],
        )
        .await?;
    row.as_ref().map(ServiceAccount::from_row).transpose()
}

/// One service account.
///
/// # Errors
/// [`StoreError`].
pub async fn find(
    db: &impl GenericClient,
    service_account_id: &ServiceAccountId,
) -> Result<Option<ServiceAccount>, StoreError> {
    let row = db.query_opt(include_str!("service_account/find.sql"), &[&service_account_id.as_str()]).await?;
    row.as_ref().map(ServiceAccount::from_row).transpose()
}

/// The operators' service account of this name.
///
/// # Errors
/// [`StoreError`].
pub async fn find_operator(
    db: &impl GenericClient,
    name: &str,
) -> Result<Option<ServiceAccount>, StoreError> {
    let row = db.query_opt(include_str!("service_account/find_operator.sql"), &[&name]).await?;
    row.as_ref().map(ServiceAccount::from_row).transpose()
}
