//! Makes an attempt's file: reads the data set, uploads, reads the object back, and records it as verified.
//!
//! Memory is bounded by [`PART_BYTES`] and [`PARTS_IN_FLIGHT_MAX`], whatever the file's size. Deliberately absent:
//! selecting the candidate. That is the completing transaction's alone.

use std::sync::atomic::{AtomicI64, Ordering};

use futures_util::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{ObjectStoreExt, WriteMultipart};
use tokio_postgres::CopyOutStream;
use uuid::Uuid;
use waybill_domain::ids::CandidateId;
use waybill_fault_points::{Point, reach};
use waybill_objects::{Objects, Upload};
use waybill_store::attempt::Progress;
use waybill_store::candidate::{self, Candidate, Verified};
use waybill_store::job::Job;

use crate::Worker;
use crate::attempt_error::AttemptError;
use crate::claiming::Claimed;
use crate::database::DatabaseError;
use crate::dataset::{Snapshot, bounded};
use crate::measure::Measure;
use crate::{metrics, object_key, recording};

/// The size of an uploaded part. Object stores take none below 5 MiB but the last.
const PART_BYTES: usize = 5 * 1024 * 1024;

/// How many parts are on their way at once.
const PARTS_IN_FLIGHT_MAX: usize = 2;

/// No total yet.
const UNCOUNTED: i64 = -1;

/// How far the file has come, shared between the task that makes it and its heartbeat.
#[derive(Debug)]
pub(crate) struct Meter {
    rows_done: AtomicI64,
    rows_total: AtomicI64,
    bytes_done: AtomicI64,
}

impl Meter {
    pub(crate) fn new() -> Self {
        Self {
            rows_done: AtomicI64::new(0),
            rows_total: AtomicI64::new(UNCOUNTED),
            bytes_done: AtomicI64::new(0),
        }
    }

    pub(crate) fn read(&self) -> Progress {
        let total = self.rows_total.load(Ordering::Relaxed);
        Progress {
            rows_done: self.rows_done.load(Ordering::Relaxed),
            rows_total: (total != UNCOUNTED).then_some(total),
            bytes_done: self.bytes_done.load(Ordering::Relaxed),
        }
    }
}

/// Makes and verifies one candidate for the job, under the fence that the job was claimed with.
pub(crate) async fn make(
    worker: &Worker,
    claimed: &Claimed,
    meter: &Meter,
) -> Result<Candidate, AttemptError> {
    let job = &claimed.job;
    let dataset = {
        let client = worker.export.get().await.map_err(DatabaseError::Pool)?;
        waybill_store::dataset::find(&**client, &job.dataset).await.map_err(DatabaseError::Store)?
    };
    let dataset =
        dataset.ok_or_else(|| AttemptError::DatasetUnregistered { dataset: job.dataset.clone() })?;
    let snapshot = Snapshot::open(&worker.dataset, &dataset, &job.columns, &job.tenant_id).await?;
    meter.rows_total.store(snapshot.rows(), Ordering::Relaxed);
    let rows = snapshot.copy().await?;

    let candidate_id = CandidateId::from_uuid(Uuid::now_v7());
    let object_key = object_key::new(&job.tenant_id, &job.export_id, job.lifecycle.fence);
    let announced =
        recording::record(claimed, "the announcement", || announce(worker, job, &candidate_id, &object_key));
    if !announced.await? {
        return Err(AttemptError::Fenced);
    }
    let path = Path::from(object_key.as_str());
    let upload = worker.objects.begin(&path).await.map_err(AttemptError::Objects)?;
    if let Err(error) = name_upload(worker, claimed, &candidate_id, upload.name()).await {
        // No row may name it, so nobody else could abort it.
        if let Err(aborting) = worker.objects.abort(&path, upload.name()).await {
            tracing::debug!(object.key = %path, error = %aborting, "an upload without a part was left behind");
        }
        return Err(error);
    }
    let written = uploaded(&worker.objects, &path, upload, rows, meter).await?;
    if written.rows != snapshot.rows() {
        return Err(AttemptError::RowsDiffer { counted: snapshot.rows(), written: written.rows });
    }
    drop(snapshot);
    compare(&written, &read_back(&worker.objects, &path).await?)?;

    let verified = recording::record(claimed, "the verification", || {
        verify(worker, &candidate_id, job.lifecycle.fence, &written)
    });
    let candidate = verified.await?.ok_or(AttemptError::Fenced)?;
    metrics::verified(&written);
    Ok(candidate)
}

async fn announce(
    worker: &Worker,
    job: &Job,
    candidate_id: &CandidateId,
    object_key: &str,
) -> Result<bool, DatabaseError> {
    let client = worker.export.get().await?;
    let fence = job.lifecycle.fence;
    Ok(candidate::announce(&**client, candidate_id, &job.export_id, fence, object_key).await?)
}

async fn verify(
    worker: &Worker,
    candidate_id: &CandidateId,
    fence: i64,
    written: &Verified,
) -> Result<Option<Candidate>, DatabaseError> {
    let client = worker.export.get().await?;
    Ok(candidate::verify(&**client, candidate_id, fence, written).await?)
}

/// Records the store's name for the upload before its first part, so that one that never ends can be aborted.
async fn name_upload(
    worker: &Worker,
    claimed: &Claimed,
    candidate_id: &CandidateId,
    name: Option<&str>,
) -> Result<(), AttemptError> {
    let Some(name) = name else { return Ok(()) };
    let named = recording::record(claimed, "the upload's name", || async {
        let client = worker.export.get().await?;
        Ok(candidate::begin_upload(&**client, candidate_id, claimed.fence(), name).await?)
    });
    if named.await? { Ok(()) } else { Err(AttemptError::Fenced) }
}

/// Streams the COPY into the object and measures it on the way. An upload that fails leaves nothing visible; one whose end
/// got no answer may be whole, which the object itself says, and then its digest.
async fn uploaded(
    store: &Objects,
    path: &Path,
    upload: Upload,
    rows: CopyOutStream,
    meter: &Meter,
) -> Result<Verified, AttemptError> {
    let mut object = WriteMultipart::new_with_chunk_size(upload.into_parts(), PART_BYTES);
    match pour(rows, &mut object, meter).await {
        Ok(measure) => match object.finish().await {
            Ok(_) => Ok(measure.finish()),
            Err(error) if store.head(path).await.is_ok() => {
                tracing::warn!(object.key = %path, %error, "the end of an upload got no answer: reading it back");
                Ok(measure.finish())
            }
            Err(error) => Err(AttemptError::Objects(error)),
        },
        Err(error) => {
            if let Err(aborting) = object.abort().await {
                tracing::debug!(object.key = %path, error = %aborting, "the aborted upload left its parts behind");
            }
            Err(error)
        }
    }
}

async fn pour(
    rows: CopyOutStream,
    object: &mut WriteMultipart,
    meter: &Meter,
) -> Result<Measure, AttemptError> {
    let mut rows = std::pin::pin!(rows);
    let mut measure = Measure::default();
    while let Some(chunk) = bounded(rows.try_next()).await? {
        measure.update(&chunk);
        object.wait_for_capacity(PARTS_IN_FLIGHT_MAX).await.map_err(AttemptError::Objects)?;
        object.write(&chunk);
        reach(Point::WorkerUploading);
        meter.rows_done.store(measure.rows(), Ordering::Relaxed);
        meter.bytes_done.store(measure.bytes(), Ordering::Relaxed);
        // A source that is always ready would otherwise never let this attempt's heartbeat run.
        tokio::task::consume_budget().await;
    }
    Ok(measure)
}

async fn read_back(store: &Objects, path: &Path) -> Result<Verified, AttemptError> {
    let mut chunks = store.get(path).await.map_err(AttemptError::Objects)?.into_stream();
    let mut measure = Measure::default();
    while let Some(chunk) = chunks.next().await {
        measure.update(&chunk.map_err(AttemptError::Objects)?);
        tokio::task::consume_budget().await;
    }
    Ok(measure.finish())
}

fn compare(written: &Verified, read: &Verified) -> Result<(), AttemptError> {
    let what = if written.bytes != read.bytes {
        "size"
    } else if written.sha256 != read.sha256 {
        "sha256"
    } else if written.rows != read.rows {
        "record count"
    } else {
        return Ok(());
    };
    Err(AttemptError::ObjectDiffers { what })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_the_measure_is_compared() {
        let written = Verified { rows: 2, bytes: 10, sha256: [1; 32] };
        assert!(compare(&written, &written).is_ok());
        let others = [
            ("size", Verified { bytes: 9, ..written.clone() }),
            ("sha256", Verified { sha256: [2; 32], ..written.clone() }),
            ("record count", Verified { rows: 3, ..written.clone() }),
        ];
        for (what, read) in others {
            let error = compare(&written, &read).expect_err("they differ");
            assert!(matches!(error, AttemptError::ObjectDiffers { what: found } if found == what));
        }
    }
}
