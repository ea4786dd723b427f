//! Candidates: the files that attempts write.
//!
//! A candidate's row exists before its upload starts, so no object is ever unknown. Deliberately absent: any way to
//! overwrite one, and any back from being condemned. What only the collector does is in [`crate::collection`].

use jiff::Timestamp;
use tokio_postgres::types::PgLsn;
use tokio_postgres::{GenericClient, Row};
pub use waybill_domain::candidate::CandidateState;
use waybill_domain::candidate::Cause;
use waybill_domain::ids::{CandidateId, ExportId};

use crate::StoreError;
use crate::job::decode;

/// A file that one attempt wrote, or is writing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its identity.
    pub candidate_id: CandidateId,
    /// The export that it was written for.
    pub export_id: ExportId,
    /// The fence of the attempt that wrote it.
    pub fence: i64,
    /// Where its object lies: unique, so that no other attempt can overwrite it.
    pub object_key: String,
    /// The store's name for its upload in parts, where the store has one and the upload has begun.
    pub upload_id: Option<String>,
    /// How far it has come.
    pub state: CandidateState,
    /// Records in the file without its header; known once verified.
    pub rows: Option<i64>,
    /// Size of the object in bytes; known once verified.
    pub bytes: Option<i64>,
    /// SHA-256 of the object, 32 bytes; known once verified.
    pub sha256: Option<Vec<u8>>,
    /// What its rows are of, where that was recorded.
    pub as_of: Option<AsOf>,
    /// When its row was made, which is before its upload.
    pub created_at: Timestamp,
    /// When the object was read back and found right.
    pub verified_at: Option<Timestamp>,
}

impl Candidate {
    /// Reads a row that has every column of `export.candidates`.
    ///
    /// # Errors
    /// A column is missing or holds what this version does not know.
    pub fn from_row(row: &Row) -> Result<Self, StoreError> {
        let candidate_id: &str = row.try_get("candidate_id")?;
        let export_id: &str = row.try_get("export_id")?;
        Ok(Self {
            candidate_id: CandidateId::parse(candidate_id).map_err(|error| StoreError::Decode {
                column: "candidates.candidate_id",
                detail: error.to_string(),
            })?,
            export_id: ExportId::parse(export_id).map_err(|error| StoreError::Decode {
                column: "candidates.export_id",
                detail: error.to_string(),
            })?,
            fence: row.try_get("fence")?,
            object_key: row.try_get("object_key")?,
            upload_id: row.try_get("upload_id")?,
            state: decode("candidates.state", row.try_get("state")?, |text| {
                CandidateState::parse(text).ok_or("not a state")
            })?,
            rows: row.try_get("rows")?,
            bytes: row.try_get("bytes")?,
            sha256: row.try_get("sha256")?,
            as_of: AsOf::from_columns(row, "as_of_lsn", "as_of_at")?,
            created_at: row.try_get("created_at")?,
            verified_at: row.try_get("verified_at")?,
        })
    }
}

/// What the rows of a file are of: one snapshot of the data set's database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AsOf {
    /// Nothing that was committed beyond this position of the log is in it.
    pub lsn: PgLsn,
    /// Everything that was committed by then is in it; unknown on a standby that had replayed nothing yet.
    pub at: Option<Timestamp>,
}

impl AsOf {
    pub(crate) fn from_columns(row: &Row, lsn: &str, at: &str) -> Result<Option<Self>, StoreError> {
        let lsn: Option<PgLsn> = row.try_get(lsn)?;
        let at = row.try_get(at)?;
        Ok(lsn.map(|lsn| Self { lsn, at }))
    }
}

/// What an object was found to hold when it was read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// Records without the header.
    pub rows: i64,
    /// Size in bytes.
    pub bytes: i64,
    /// SHA-256 of the content.
    pub sha256: [u8; 32],
}

/// Announces the object that an attempt is about to upload, and what its rows are of; a repetition with the same values is
/// answered like the first. `false`: the attempt is fenced, or the id stands for something else; nothing was written.
///
/// # Errors
/// Postgres refused, or another candidate has this key.
pub async fn announce(
    db: &impl GenericClient,
    candidate_id: &CandidateId,
    export_id: &ExportId,
    fence: i64,
    object_key: &str,
    as_of: AsOf,
) -> Result<bool, StoreError> {
    let statement = include_str!("candidate/announce.sql");
    let parameters: [&(dyn tokio_postgres::types::ToSql + Sync); 6] =
        [&candidate_id.as_str(), &export_id.as_str(), &fence, &object_key, &as_of.lsn, &as_of.at];
    Ok(db.execute(statement, &parameters).await? == 1)
}

/// Records that an object was read back and is whole; a repetition with the same measure is answered like the first.
/// `None`: the attempt is fenced, or the candidate is neither `writing` nor verified with this measure; nothing was
/// changed.
///
/// # Errors
/// Postgres refused, or the row could not be decoded.
pub async fn verify(
    db: &impl GenericClient,
    candidate_id: &CandidateId,
    fence: i64,
    verified: &Verified,
) -> Result<Option<Candidate>, StoreError> {
    let statement = include_str!("candidate/verify.sql");
    let digest: &[u8] = &verified.sha256;
    let row = db
        .query_opt(statement, &[&candidate_id.as_str(), &fence, &verified.rows, &verified.bytes, &digest])
        .await?;
    row.as_ref().map(Candidate::from_row).transpose()
}

/// Selects a verified candidate as its export's result, in the transaction that completes the job. `None`: it is not
/// a verified candidate of this fence, nothing was changed.
///
/// # Errors
/// Postgres refused (also when the export has a selected candidate already), or the row could not be decoded.
pub async fn select(
    db: &impl GenericClient,
    candidate_id: &CandidateId,
    export_id: &ExportId,
    fence: i64,
) -> Result<Option<Candidate>, StoreError> {
    let statement = include_str!("candidate/select.sql");
    let row = db.query_opt(statement, &[&candidate_id.as_str(), &export_id.as_str(), &fence]).await?;
    row.as_ref().map(Candidate::from_row).transpose()
}

/// Finds a candidate by its id.
///
/// # Errors
/// Postgres refused, or the row could not be decoded.
pub async fn find(
    db: &impl GenericClient,
    candidate_id: &CandidateId,
) -> Result<Option<Candidate>, StoreError> {
    let row = db.query_opt(include_str!("candidate/find.sql"), &[&candidate_id.as_str()]).await?;
    row.as_ref().map(Candidate::from_row).transpose()
}

/// Records the store's name for the upload of an announced candidate, before its first part; a repetition is answered
/// like the first. `false`: the attempt is fenced, or the upload has another name already; nothing was changed.
///
/// # Errors
/// Postgres refused the statement.
pub async fn begin_upload(
    db: &impl GenericClient,
    candidate_id: &CandidateId,
    fence: i64,
    upload_id: &str,
) -> Result<bool, StoreError> {
    let statement = include_str!("candidate/begin_upload.sql");
    Ok(db.execute(statement, &[&candidate_id.as_str(), &fence, &upload_id]).await? == 1)
}

/// Gives a candidate to the collector: from now on nobody can verify or select it. `false`: it is condemned or deleted
/// already, nothing was changed.
///
/// # Errors
/// Postgres refused the statement.
pub async fn condemn(
    db: &impl GenericClient,
    candidate_id: &CandidateId,
    cause: Cause,
) -> Result<bool, StoreError> {
    let condemned = CandidateState::Condemned;
    let from: Vec<&str> = CandidateState::ALL
        .iter()
        .filter(|from| from.may_become(condemned))
        .map(|from| from.as_str())
        .collect();
    let statement = include_str!("candidate/condemn.sql");
    let changed =
        db.execute(statement, &[&candidate_id.as_str(), &condemned.as_str(), &cause.as_str(), &from]).await?;
    Ok(changed == 1)
}
