//! What waits for a person: quarantined exports, of any tenant. For operators only.
//!
//! Deliberately absent: deciding, which is [`crate::job::lock`] and [`crate::job::store_decision`].

use jiff::Timestamp;
use tokio_postgres::types::Type;
use tokio_postgres::{GenericClient, Row};
use waybill_domain::ids::{ExportId, TenantId};

use crate::StoreError;
use crate::job::{Parameter, decode};

/// A quarantined export, with what is needed to decide whether to look at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quarantined {
    /// The export.
    pub export_id: ExportId,
    /// Whose it is.
    pub tenant_id: TenantId,
    /// The data set, by its registered name.
    pub dataset: String,
    /// What the caller calls it.
    pub name: Option<String>,
    /// How many leases were lost over it.
    pub lost_leases: i32,
    /// When it was accepted.
    pub accepted_at: Timestamp,
    /// The attempt after which it was quarantined.
    pub last_attempt: Option<LastAttempt>,
}

/// The latest attempt of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastAttempt {
    /// The attempt's fence.
    pub fence: i64,
    /// The worker that made it.
    pub worker: String,
    /// When it was over.
    pub ended_at: Option<Timestamp>,
}

impl Quarantined {
    fn from_row(row: &Row) -> Result<Self, StoreError> {
        let fence: Option<i64> = row.try_get("attempt_fence")?;
        let last_attempt = match fence {
            Some(fence) => Some(LastAttempt {
                fence,
                worker: row.try_get("attempt_worker")?,
                ended_at: row.try_get("attempt_ended_at")?,
            }),
            None => None,
        };
        Ok(Self {
            export_id: decode("jobs.export_id", row.try_get("export_id")?, ExportId::parse)?,
            tenant_id: decode("jobs.tenant_id", row.try_get("tenant_id")?, TenantId::parse)?,
            dataset: row.try_get("dataset")?,
            name: row.try_get("name")?,
            lost_leases: row.try_get("lost_leases")?,
            accepted_at: row.try_get("accepted_at")?,
            last_attempt,
        })
    }
}

/// At most `limit` quarantined exports, in the order of their ids, after this one.
///
/// # Errors
/// [`StoreError`].
pub async fn list(
    db: &impl GenericClient,
    after: Option<&ExportId>,
    limit: i64,
) -> Result<Vec<Quarantined>, StoreError> {
    let after = after.map_or("", ExportId::as_str);
    let rows = db.query(include_str!("quarantine/list.sql"), &[&after, &limit]).await?;
    rows.iter().map(Quarantined::from_row).collect()
}

/// Whose an export is, in whatever state it is; `None` where there is no such export.
///
/// # Errors
/// [`StoreError`].
pub async fn owner(db: &impl GenericClient, export_id: &ExportId) -> Result<Option<TenantId>, StoreError> {
    let parameters: [Parameter<'_>; 1] = [(&export_id.as_str(), Type::TEXT)];
    let row = db.query_typed_opt(include_str!("quarantine/owner.sql"), &parameters).await?;
    let Some(row) = row else { return Ok(None) };
    decode("jobs.tenant_id", row.try_get("tenant_id")?, TenantId::parse).map(Some)
}
