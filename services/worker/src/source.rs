//! What an export is read from: the revision that it was accepted with, against the database as it is now.
//!
//! Deliberately absent: returning the connection to a pool. An attempt that is dropped in the middle of a COPY must end
//! it at once, which only closing the connection does.

use std::time::Duration;

use tokio::time::Instant;
use waybill_datasets::{PinnedColumn, Reading, Revision, kind_of_spec};
use waybill_domain::export::Spec;
use waybill_formats::Plan;
use waybill_runtime::SourceConnection;
use waybill_source::{Limits, describe};
use waybill_store::dataset;
use waybill_store::job::Job;

use crate::Worker;
use crate::attempt_error::AttemptError;
use crate::database::DatabaseError;

const MS_OF_A_SECOND: i64 = 1_000;

/// A source that an export's rows can be read from.
pub(crate) struct Source {
    /// The way to it.
    pub(crate) connection: SourceConnection,
    /// How the rows are read.
    pub(crate) reading: Reading,
    /// What becomes of them.
    pub(crate) plan: Plan,
    /// What the reading may take.
    pub(crate) limits: Limits,
    /// Until when it may.
    pub(crate) deadline: Deadline,
}

impl Source {
    /// Connects, and holds the data set as it was applied against what the database says now.
    pub(crate) async fn open(worker: &Worker, job: &Job) -> Result<Self, AttemptError> {
        let revision = revision(worker, job).await?;
        let declaration = &revision.declaration;
        let deadline = Deadline::after(declaration.max_snapshot_age_seconds);
        let connection =
            worker.sources.connect(&declaration.source).await.map_err(AttemptError::Unconnected)?;
        let described = deadline.of(describe(&connection, declaration)).await?;
        let spec = &job.spec;
        for name in used(&revision, spec) {
            still(&revision, &described.columns, name)?;
        }
        let reading = Reading::new(&revision, spec, &job.tenant_id, &described.columns);
        let limits = Limits {
            statement_timeout_ms: declaration.statement_timeout_seconds.saturating_mul(MS_OF_A_SECOND),
        };
        // Types of the database's own may have other oids now than when they were pinned.
        let now = Revision { columns: described.columns, ..revision };
        let kind = kind_of_spec(spec).map_err(AttemptError::Plan)?;
        let plan = Plan::new(&now.planned(&spec.columns), kind).map_err(AttemptError::Plan)?;
        Ok(Self { connection, reading, plan, limits, deadline })
    }
}

async fn revision(worker: &Worker, job: &Job) -> Result<Revision, AttemptError> {
    let number = job.spec.dataset_revision;
    let unreadable =
        |source| AttemptError::RevisionUnreadable { dataset: job.dataset.clone(), revision: number, source };
    let client = worker.export.get().await.map_err(DatabaseError::Pool)?;
    let stored = dataset::find(&**client, &job.dataset, number).await.map_err(DatabaseError::Store)?;
    let stored = stored.ok_or_else(|| unreadable(None))?;
    Revision::read(number, stored.declaration, stored.columns).map_err(|error| unreadable(Some(error)))
}

/// The columns that this export needs: of its file, its filters, its order, and the one that says whose a row is.
fn used<'a>(revision: &'a Revision, spec: &'a Spec) -> impl Iterator<Item = &'a str> {
    let declaration = &revision.declaration;
    let order = spec.order.as_ref().and_then(|name| declaration.orders.get(name));
    let ordered = order.into_iter().flatten().map(|key| key.column.as_str());
    let filtered = spec.filters.keys().map(String::as_str);
    spec.columns.iter().map(String::as_str).chain(declaration.owner.column()).chain(filtered).chain(ordered)
}

/// Refuses a column that is gone, or of another type than when the data set was applied.
fn still(revision: &Revision, now: &[PinnedColumn], name: &str) -> Result<(), AttemptError> {
    let now = now.iter().find(|column| column.name == name);
    let now = now.ok_or_else(|| AttemptError::ColumnMissing { column: name.to_owned() })?;
    let pinned = revision.pinned(name).filter(|pinned| pinned.is_still(now));
    if pinned.is_some() {
        return Ok(());
    }
    let before = revision.pinned(name).map_or("unknown", |pinned| pinned.type_name.as_str()).to_owned();
    Err(AttemptError::ColumnChanged { column: name.to_owned(), before, now: now.type_name.clone() })
}

/// Until when a source may be read: no snapshot of it is held longer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    at: Instant,
    seconds: i64,
}

impl Deadline {
    fn after(seconds: i64) -> Self {
        let length = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
        Self { at: Instant::now() + length, seconds }
    }

    /// Waits for the source, and no longer.
    pub(crate) async fn of<T>(
        self,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, AttemptError> {
        self.over(async { answer.await.map_err(AttemptError::Source) }).await
    }

    /// Waits for what has to be done while the source's snapshot is held, and no longer.
    pub(crate) async fn over<T>(
        self,
        work: impl Future<Output = Result<T, AttemptError>>,
    ) -> Result<T, AttemptError> {
        let done = tokio::time::timeout_at(self.at, work).await;
        done.unwrap_or(Err(AttemptError::SnapshotTooOld { seconds: self.seconds }))
    }
}
