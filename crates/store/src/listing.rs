//! A tenant's exports, newest first, page after page.
//!
//! The order is that of (accepted_at, export_id), which never changes for an export, so that what is accepted meanwhile moves no
//! page: whatever matched and was committed before the first page was read, and still matches, stands on exactly one page.
//! accepted_at is the time at which the accepting transaction began. One that is committed later may come to stand among pages
//! that were read already, so a list is no way to follow what is new.

use jiff::Timestamp;
use tokio_postgres::GenericClient;
use tokio_postgres::types::Type;
use waybill_domain::ids::{ExportId, TenantId};
use waybill_domain::job::JobState;

use crate::StoreError;
use crate::job::{JobView, Parameter, view_from_row};

/// Which exports are wanted: those of which everything that is said is true.
#[derive(Debug, Clone, Copy, Default)]
pub struct Filter<'a> {
    /// Their state.
    pub state: Option<JobState>,
    /// Their data set.
    pub dataset: Option<&'a str>,
    /// What the caller called them, character by character.
    pub name: Option<&'a str>,
    /// A label and its value.
    pub label: Option<(&'a str, &'a str)>,
    /// Accepted then or later.
    pub accepted_from: Option<Timestamp>,
    /// Accepted earlier.
    pub accepted_before: Option<Timestamp>,
    /// The failed export that they are other tries of.
    pub retry_of: Option<&'a ExportId>,
}

/// Where a page ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// When its last export was accepted.
    pub accepted_at: Timestamp,
    /// That export.
    pub export_id: ExportId,
}

/// At most `limit` of a tenant's exports, newest first, after this place.
///
/// # Errors
/// [`StoreError`].
pub async fn of_tenant(
    db: &impl GenericClient,
    tenant_id: &TenantId,
    filter: Filter<'_>,
    after: Option<&Place>,
    limit: i64,
) -> Result<Vec<JobView>, StoreError> {
    let parameters: [Parameter<'_>; 12] = [
        (&tenant_id.as_str(), Type::TEXT),
        (&after.map(|place| place.accepted_at), Type::TIMESTAMPTZ),
        (&after.map(|place| place.export_id.as_str()), Type::TEXT),
        (&filter.accepted_from, Type::TIMESTAMPTZ),
        (&filter.accepted_before, Type::TIMESTAMPTZ),
        (&filter.state.map(JobState::as_str), Type::TEXT),
        (&filter.dataset, Type::TEXT),
        (&filter.name, Type::TEXT),
        (&filter.label.map(|(key, _)| key), Type::TEXT),
        (&filter.label.map(|(_, value)| value), Type::TEXT),
        (&filter.retry_of.map(ExportId::as_str), Type::TEXT),
        (&limit, Type::INT8),
    ];
    let rows = db.query_typed(include_str!("listing/of_tenant.sql"), &parameters).await?;
    rows.iter().map(view_from_row).collect()
}
