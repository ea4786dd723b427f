//! Passwords of service accounts: `export.api_keys`. Only the digest of a secret is ever here.

use jiff::Timestamp;
use tokio_postgres::types::Type;
use tokio_postgres::{GenericClient, Row};
use waybill_domain::ids::{ApiKeyId, ServiceAccountId, TenantId};

use crate::StoreError;
use crate::job::{Parameter, decode};

/// What a key may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// See the tenant's exports, search and counters.
    ExportsRead,
    /// Ask for exports.
    ExportsWrite,
    /// Operate the deployment.
    Ops,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 3] = [Self::ExportsRead, Self::ExportsWrite, Self::Ops];

    /// The scope as it is stored and answered.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ExportsRead => "exports:read",
            Self::ExportsWrite => "exports:write",
            Self::Ops => "ops",
        }
    }

    /// The scope of this name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text)
    }
}

/// A key as its row says it is, without anything secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// The public half.
    pub api_key_id: ApiKeyId,
    /// Whose it is.
    pub service_account_id: ServiceAccountId,
    /// What it may be used for.
    pub scopes: Vec<Scope>,
    /// The principal that made it.
    pub created_by: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// For how long it was made; absent for ever.
    pub valid_seconds: Option<i64>,
    /// From when on it is refused, if ever.
    pub expires_at: Option<Timestamp>,
    /// Since when it is refused because somebody said so.
    pub revoked_at: Option<Timestamp>,
    /// The key that it follows, where it was made by a rotation.
    pub rotated_from: Option<ApiKeyId>,
}

/// What a request's key is judged by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credential {
    /// The public half.
    pub api_key_id: ApiKeyId,
    /// SHA-256 of the secret half.
    pub secret_sha256: Vec<u8>,
    /// What it may be used for.
    pub scopes: Vec<Scope>,
    /// Somebody revoked it.
    pub revoked: bool,
    /// Its time is over, by the database's clock.
    pub expired: bool,
    /// Who calls.
    pub service_account_id: ServiceAccountId,
    /// For which tenant; absent for an operator's.
    pub tenant_id: Option<TenantId>,
    /// That tenant is suspended.
    pub suspended: bool,
}

/// A key to be made.
#[derive(Debug)]
pub struct NewApiKey<'a> {
    /// The public half.
    pub api_key_id: &'a ApiKeyId,
    /// Whose it will be.
    pub service_account_id: &'a ServiceAccountId,
    /// SHA-256 of the secret half.
    pub secret_sha256: &'a [u8],
    /// What it may be used for; at least one.
    pub scopes: &'a [Scope],
    /// The principal that makes it.
    pub created_by: &'a str,
    /// How long it is good for; absent for ever.
    pub valid_seconds: Option<i64>,
    /// The key that it follows, where a rotation makes it.
    pub rotated_from: Option<&'a ApiKeyId>,
}

fn scopes_from_row(row: &Row) -> Result<Vec<Scope>, StoreError> {
    let scopes: Vec<&str> = row.try_get("scopes")?;
    scopes
        .into_iter()
        .map(|text| decode("api_keys.scopes", text, |text| Scope::parse(text).ok_or("not a scope")))
        .collect()
}

fn id_from_row(row: &Row) -> Result<ApiKeyId, StoreError> {
    decode("api_keys.api_key_id", row.try_get("api_key_id")?, ApiKeyId::parse)
}

fn service_account_from_row(row: &Row) -> Result<ServiceAccountId, StoreError> {
    decode("api_keys.service_account_id", row.try_get("service_account_id")?, ServiceAccountId::parse)
}

impl ApiKey {
    fn from_row(row: &Row) -> Result<Self, StoreError> {
        let rotated_from: Option<&str> = row.try_get("rotated_from")?;
        Ok(Self {
            api_key_id: id_from_row(row)?,
            service_account_id: service_account_from_row(row)?,
            scopes: scopes_from_row(row)?,
            created_by: row.try_get("created_by")?,
            created_at: row.try_get("created_at")?,
            valid_seconds: row.try_get("valid_seconds")?,
            expires_at: row.try_get("expires_at")?,
            revoked_at: row.try_get("revoked_at")?,
            rotated_from: rotated_from
                .map(|text| decode("api_keys.rotated_from", text, ApiKeyId::parse))
                .transpose()?,
        })
    }
}

/// Makes a key.
///
/// # Errors
/// [`StoreError`], also where there is no such service account.
pub async fn insert(db: &impl GenericClient, key: &NewApiKey<'_>) -> Result<ApiKey, StoreError> {
    let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.as_str()).collect();
    let row = db
        .query_one(
            include_str!("api_key/insert.sql"),
            &[
                &key.api_key_id.as_str(),
                &key.service_account_id.as_str(),
                &key.secret_sha256,
                &scopes,
                &key.created_by,
                &key.valid_seconds,
                &key.rotated_from.map(ApiKeyId::as_str),
            ],
        )
        .await?;
    ApiKey::from_row(&row)
}

/// What to judge a request by that shows this key.
///
/// # Errors
/// [`StoreError`].
pub async fn find_credential(
    db: &impl GenericClient,
    api_key_id: &ApiKeyId,
) -> Result<Option<Credential>, StoreError> {
    let parameters: [Parameter<'_>; 1] = [(&api_key_id.as_str(), Type::TEXT)];
    let row = db.query_typed_opt(include_str!("api_key/find_credential.sql"), &parameters).await?;
    let Some(row) = row else { return Ok(None) };
    let tenant_id: Option<&str> = row.try_get("tenant_id")?;
    Ok(Some(Credential {
        api_key_id: id_from_row(&row)?,
        secret_sha256: row.try_get("secret_sha256")?,
        scopes: scopes_from_row(&row)?,
        revoked: row.try_get("revoked")?,
        expired: row.try_get("expired")?,
        service_account_id: service_account_from_row(&row)?,
        tenant_id: tenant_id
            .map(|text| decode("service_accounts.tenant_id", text, TenantId::parse))
            .transpose()?,
        suspended: row.try_get("suspended")?,
    }))
}

/// One key.
///
/// # Errors
/// [`StoreError`].
pub async fn find(db: &impl GenericClient, api_key_id: &ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
    let row = db.query_opt(include_str!("api_key/find.sql"), &[&api_key_id.as_str()]).await?;
    row.as_ref().map(ApiKey::from_row).transpose()
}

/// A key that still works, its row locked until the transaction ends. `None`: no key of this id does.
///
/// # Errors
/// [`StoreError`].
pub async fn lock_usable(
    tx: &impl GenericClient,
    api_key_id: &ApiKeyId,
) -> Result<Option<ApiKey>, StoreError> {
    let row = tx.query_opt(include_str!("api_key/lock_usable.sql"), &[&api_key_id.as_str()]).await?;
    row.as_ref().map(ApiKey::from_row).transpose()
}

/// Lets a key end so many seconds from now, unless it ends before. `None`: there is no such key.
///
/// # Errors
/// [`StoreError`].
pub async fn retire(
    tx: &impl GenericClient,
    api_key_id: &ApiKeyId,
    overlap_seconds: i64,
) -> Result<Option<ApiKey>, StoreError> {
    let row =
        tx.query_opt(include_str!("api_key/retire.sql"), &[&api_key_id.as_str(), &overlap_seconds]).await?;
    row.as_ref().map(ApiKey::from_row).transpose()
}

/// At most `limit` keys, of one service account where it is given, in the order of their ids, after this one.
///
/// # Errors
/// [`StoreError`].
pub async fn list(
    db: &impl GenericClient,
    of: Option<&ServiceAccountId>,
    after: Option<&ApiKeyId>,
    limit: i64,
) -> Result<Vec<ApiKey>, StoreError> {
    let (of, after) = (of.map(ServiceAccountId::as_str), after.map_or("", ApiKeyId::as_str));
    let parameters: [Parameter<'_>; 3] = [(&of, Type::TEXT), (&after, Type::TEXT), (&limit, Type::INT8)];
    let rows = db.query_typed(include_str!("api_key/list.sql"), &parameters).await?;
    rows.iter().map(ApiKey::from_row).collect()
}

/// Revokes a key, or answers `None` where there is no such key. A second time changes nothing.
///
/// # Errors
/// [`StoreError`].
pub async fn revoke(tx: &impl GenericClient, api_key_id: &ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
    let row = tx.query_opt(include_str!("api_key/revoke.sql"), &[&api_key_id.as_str()]).await?;
    row.as_ref().map(ApiKey::from_row).transpose()
}

/// How many keys could be used for an operator's work right now.
///
/// # Errors
/// [`StoreError`].
pub async fn count_usable_ops(db: &impl GenericClient) -> Result<i64, StoreError> {
    let row = db.query_one(include_str!("api_key/count_usable_ops.sql"), &[]).await?;
    Ok(row.try_get("usable")?)
}
