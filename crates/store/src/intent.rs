//! What a caller wants once: `export.intents`. (service account, operation, key) stands for one export, for ever.

use jiff::Timestamp;
use serde_json::Value;
use tokio_postgres::types::Type;
use tokio_postgres::{GenericClient, Row};
use waybill_domain::ids::{ExportId, ServiceAccountId};

use crate::StoreError;
use crate::job::{Parameter, decode};

/// The longest idempotency key, in characters; the column's CHECK says the same.
pub const IDEMPOTENCY_KEY_CHARACTERS_MAX: usize = 255;

/// Under what an intent is unique.
#[derive(Debug, Clone, Copy)]
pub struct IntentKey<'a> {
    /// Who wants it. Not the key that was shown: keys rotate.
    pub service_account_id: &'a ServiceAccountId,
    /// What is wanted, such as `export.create`.
    pub operation: &'a str,
    /// The caller's own name for this want.
    pub idempotency_key: &'a str,
}

/// An intent that stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// The export that stands for it.
    pub export_id: ExportId,
    /// SHA-256 of the canonical request.
    pub request_sha256: Vec<u8>,
    /// The request, where the operation has one.
    pub request: Option<Value>,
    /// When it was accepted.
    pub created_at: Timestamp,
}

impl Intent {
    fn from_row(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            export_id: decode("intents.export_id", row.try_get("export_id")?, ExportId::parse)?,
            request_sha256: row.try_get("request_sha256")?,
            request: row.try_get("request")?,
            created_at: row.try_get("created_at")?,
        })
    }
}

/// The intent under this key.
///
/// # Errors
/// [`StoreError`].
pub async fn find(db: &impl GenericClient, key: IntentKey<'_>) -> Result<Option<Intent>, StoreError> {
    let parameters: [Parameter<'_>; 3] = [
        (&key.service_account_id.as_str(), Type::TEXT),
        (&key.operation, Type::TEXT),
        (&key.idempotency_key, Type::TEXT),
    ];
    let row = db.query_typed_opt(include_str!("intent/find.sql"), &parameters).await?;
    row.as_ref().map(Intent::from_row).transpose()
}

/// Claims the key for this export and answers the transaction's `now()`, or `None` where the key stands for another
/// export already. Waits for an open transaction that claims the same key.
///
/// # Errors
/// [`StoreError`].
pub async fn insert(
    tx: &impl GenericClient,
    key: IntentKey<'_>,
    (request_sha256, request): (&[u8], Option<&Value>),
    export_id: &ExportId,
) -> Result<Option<Timestamp>, StoreError> {
    let parameters: [Parameter<'_>; 6] = [
        (&key.service_account_id.as_str(), Type::TEXT),
        (&key.operation, Type::TEXT),
        (&key.idempotency_key, Type::TEXT),
        (&request_sha256, Type::BYTEA),
        (&request, Type::JSONB),
        (&export_id.as_str(), Type::TEXT),
    ];
    let row = tx.query_typed_opt(include_str!("intent/insert.sql"), &parameters).await?;
    row.map(|row| row.try_get("created_at")).transpose().map_err(StoreError::from)
}
