//! How far exports are that somebody watches: all of them in one read.

use tokio_postgres::types::Type;
use tokio_postgres::{GenericClient, Row};
use waybill_domain::ids::ExportId;
use waybill_domain::job::JobState;

use crate::StoreError;
use crate::job::{JobView, Parameter, decode};

/// How far an export is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// Its version.
    pub version: i64,
    /// Its state.
    pub state: JobState,
    /// Its latest attempt's fence, rows and bytes, once there is one.
    pub progress: Option<(i64, i64, i64)>,
}

impl Mark {
    /// How far the export was when it was read.
    #[must_use]
    pub fn of(view: &JobView) -> Self {
        Self {
            version: view.job.lifecycle.version,
            state: view.job.lifecycle.state,
            progress: view.progress.map(|progress| (progress.fence, progress.rows_done, progress.bytes_done)),
        }
    }

    fn from_row(row: &Row) -> Result<Self, StoreError> {
        let fence: Option<i64> = row.try_get("attempt_fence")?;
        let progress = match fence {
            Some(fence) => {
                Some((fence, row.try_get("attempt_rows_done")?, row.try_get("attempt_bytes_done")?))
            }
            None => None,
        };
        let state =
            decode("jobs.state", row.try_get("state")?, |text| JobState::parse(text).ok_or("not a state"))?;
        Ok(Self { version: row.try_get("version")?, state, progress })
    }
}

/// How far those of these exports are that there are.
///
/// # Errors
/// [`StoreError`].
pub async fn marks(
    db: &impl GenericClient,
    export_ids: &[ExportId],
) -> Result<Vec<(ExportId, Mark)>, StoreError> {
    let export_ids: Vec<&str> = export_ids.iter().map(ExportId::as_str).collect();
    let parameters: [Parameter<'_>; 1] = [(&export_ids, Type::TEXT_ARRAY)];
    let rows = db.query_typed(include_str!("watched/marks.sql"), &parameters).await?;
    rows.iter()
        .map(|row| {
            let export_id = decode("jobs.export_id", row.try_get("export_id")?, ExportId::parse)?;
            Ok((export_id, Mark::from_row(row)?))
        })
        .collect()
}
