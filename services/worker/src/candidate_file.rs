//! Makes an attempt's file: reads the data set, uploads, reads the object back, and records it as verified.
//!
//! Memory is bounded by [`PIECE_BYTES`], [`PART_BYTES`], [`PARTS_IN_FLIGHT_MAX`] and what the format needs, whatever the
//! file's size. Deliberately absent: selecting the candidate. That is the completing transaction's alone.

use std::sync::atomic::{AtomicI64, Ordering};

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use object_store::path::Path;
use object_store::{GetResultPayload, ObjectStoreExt, WriteMultipart};
use uuid::Uuid;
use waybill_domain::ids::CandidateId;
use waybill_fault_points::{Point, reach};
use waybill_formats::FileKind;
use waybill_objects::{Objects, Upload};
use waybill_source::Snapshot;
use waybill_store::attempt::Progress;
use waybill_store::candidate::{self, AsOf, Candidate, Verified};
use waybill_store::job::Job;

use crate::Worker;
use crate::attempt_error::AttemptError;
use crate::claiming::Claimed;
use crate::database::DatabaseError;
use crate::encoding::{Encoded, Encoding, ReadBack};
use crate::source::Source;
use crate::{metrics, object_key, recording};

/// How much of a file is worked on at once.
const PIECE_BYTES: usize = 256 * 1024;

/// The size of an uploaded part. Object stores take none below 5 MiB but the last.
const PART_BYTES: usize = 5 * 1024 * 1024;

/// How many parts are on their way at once.
const PARTS_IN_FLIGHT_MAX: usize = 2;

/// No estimate yet.
const UNESTIMATED: i64 = -1;

/// How far the file has come, shared between the task that makes it and its heartbeat.
#[derive(Debug)]
pub(crate) struct Meter {
    rows_done: AtomicI64,
    rows_estimated: AtomicI64,
    bytes_done: AtomicI64,
}

impl Meter {
    pub(crate) fn new() -> Self {
        Self {
            rows_done: AtomicI64::new(0),
            rows_estimated: AtomicI64::new(UNESTIMATED),
            bytes_done: AtomicI64::new(0),
        }
    }

    pub(crate) fn read(&self) -> Progress {
        let estimated = self.rows_estimated.load(Ordering::Relaxed);
        Progress {
            rows_done: self.rows_done.load(Ordering::Relaxed),
            rows_estimated: (estimated != UNESTIMATED).then_some(estimated),
            bytes_done: self.bytes_done.load(Ordering::Relaxed),
        }
    }

    fn went_on(&self, rows: i64, bytes: usize) {
        self.rows_done.store(rows, Ordering::Relaxed);
        self.bytes_done.fetch_add(i64::try_from(bytes).unwrap_or(i64::MAX), Ordering::Relaxed);
    }
}

/// Makes and verifies one candidate for the job, under the fence that the job was claimed with.
pub(crate) async fn make(
    worker: &Worker,
    claimed: &Claimed,
    meter: &Meter,
) -> Result<Candidate, AttemptError> {
    let job = &claimed.job;
    let source = Source::open(worker, job).await?;
    let deadline = source.deadline;
    let snapshot = deadline.of(Snapshot::open(&source.connection, &source.reading, source.limits)).await?;
    if let Some(rows) = deadline.of(snapshot.estimate(&source.reading)).await? {
        meter.rows_estimated.store(rows, Ordering::Relaxed);
    }

    let candidate_id = CandidateId::from_uuid(Uuid::now_v7());
    let object_key = object_key::new(&job.tenant_id, &job.export_id, job.lifecycle.fence);
    let as_of = as_of(&snapshot)?;
    let announced = recording::record(claimed, "the announcement", || {
        announce(worker, job, &candidate_id, &object_key, as_of)
    });
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
    let kind = source.plan.kind();
    let written = uploaded(&worker.objects, &path, upload, (&source, snapshot), meter).await?;
    drop(source);
    let written = read_back(&worker.objects, &path, kind, written).await?;

    let verified = recording::record(claimed, "the verification", || {
        verify(worker, &candidate_id, job.lifecycle.fence, &written)
    });
    let candidate = verified.await?.ok_or(AttemptError::Fenced)?;
    metrics::verified(&written);
    Ok(candidate)
}

fn as_of(snapshot: &Snapshot<'_>) -> Result<AsOf, AttemptError> {
    let as_of = snapshot.as_of();
    let lsn = as_of.lsn.parse().map_err(|_no_lsn| AttemptError::SnapshotUnplaced)?;
    Ok(AsOf { lsn, at: as_of.time })
}

async fn announce(
    worker: &Worker,
    job: &Job,
    candidate_id: &CandidateId,
    object_key: &str,
    as_of: AsOf,
) -> Result<bool, DatabaseError> {
    let client = worker.export.get().await?;
    let fence = job.lifecycle.fence;
    Ok(candidate::announce(&**client, candidate_id, &job.export_id, fence, object_key, as_of).await?)
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
    read: (&Source, Snapshot<'_>),
    meter: &Meter,
) -> Result<Verified, AttemptError> {
    let mut object = WriteMultipart::new_with_chunk_size(upload.into_parts(), PART_BYTES);
    match pour(read, &mut object, meter).await {
        Ok(written) => match object.finish().await {
            Ok(_) => Ok(written),
            Err(error) if store.head(path).await.is_ok() => {
                tracing::warn!(object.key = %path, %error, "the end of an upload got no answer: reading it back");
                Ok(written)
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

/// Reads, encodes and uploads, all three at once, and ends the file only with as many rows as the server says it sent.
async fn pour(
    (source, snapshot): (&Source, Snapshot<'_>),
    object: &mut WriteMultipart,
    meter: &Meter,
) -> Result<Verified, AttemptError> {
    let deadline = source.deadline;
    let mut rows = deadline.of(source.connection.copy_out(&source.reading.copy(&source.plan))).await?;
    let mut encoding = Encoding::new(&source.plan)?;
    let mut next = deadline.of(rows.next()).await?;
    while let Some(piece) = next {
        let (encoded, following) = tokio::try_join!(encoding.take(piece), deadline.of(rows.next()))?;
        let Encoded { encoding: rest, bytes } = encoded;
        meter.went_on(rest.rows(), bytes.len());
        deadline.over(put(object, bytes)).await?;
        reach(Point::WorkerUploading);
        (encoding, next) = (rest, following);
    }
    // Only the answer to a later statement shows that nothing is still to come of the COPY, not even an error.
    deadline.of(snapshot.end()).await?;
    let rows_sent = rows.rows_sent().ok_or(AttemptError::RowsUntold)?;
    let (last, written) = encoding.finish(rows_sent).await?;
    meter.went_on(written.rows, last.len());
    put(object, last).await?;
    Ok(written)
}

async fn put(object: &mut WriteMultipart, mut bytes: Bytes) -> Result<(), AttemptError> {
    while !bytes.is_empty() {
        object.wait_for_capacity(PARTS_IN_FLIGHT_MAX).await.map_err(AttemptError::Objects)?;
        object.put(bytes.split_to(bytes.len().min(PIECE_BYTES)));
    }
    Ok(())
}

/// Reads the object back and compares it with what was written.
async fn read_back(
    store: &Objects,
    path: &Path,
    kind: FileKind,
    written: Verified,
) -> Result<Verified, AttemptError> {
    let mut read = ReadBack::new(kind);
    let mut chunks = match store.get(path).await.map_err(AttemptError::Objects)?.payload {
        GetResultPayload::File(file, _path) => return read.take_file(file).await?.compare(written).await,
        GetResultPayload::Stream(chunks) => chunks,
    };
    let mut piece = BytesMut::new();
    while let Some(chunk) = chunks.next().await {
        piece.extend_from_slice(&chunk.map_err(AttemptError::Objects)?);
        if piece.len() >= PIECE_BYTES {
            read = read.take(std::mem::take(&mut piece)).await?;
        }
    }
    read.take(piece).await?.compare(written).await
}
