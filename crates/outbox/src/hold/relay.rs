//! The active relay's side: what it parks, sends later, and lets go. Each write is fenced: it locks the cursor's row
//! against a takeover and changes nothing under another fence.

use std::time::SystemTime;

use tokio_postgres::{GenericClient, Row as Found};

use super::Scope;
use crate::window::{Batch, Cursor, Held, Page, PageLimits, Row, Window, WindowError};

/// The bytes of a key's digest, SHA-256.
pub const KEY_DIGEST_BYTES: usize = 32;

/// A hold that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenHold {
    /// Its number.
    pub hold_id: i64,
    /// What is held.
    pub scope: Scope,
    /// The Kafka topic.
    pub topic: String,
    /// The SHA-256 of the key, of a hold of a key: keys may be long, and many may be held.
    pub key_digest: Option<[u8; KEY_DIGEST_BYTES]>,
    /// The cause as a kebab-case slug.
    pub code: String,
    /// What Kafka said.
    pub detail: String,
    /// When somebody last asked to go on, if that was not answered yet.
    pub resume_requested_at: Option<SystemTime>,
    /// Whether no undecided row is under it: it was opened and nothing parked, or everything is decided. It is to be ended.
    pub is_empty: bool,
}

/// Kafka's answer to one parked row.
#[derive(Debug, Clone, Copy)]
pub struct Refused<'a> {
    /// The row.
    pub seq: i64,
    /// The cause as a kebab-case slug.
    pub code: &'a str,
    /// What Kafka said.
    pub detail: &'a str,
}

/// The holds that have not ended, in the order of `hold_id`, at most `holds_max`.
///
/// # Errors
/// [`WindowError::Database`].
pub async fn load(db: &impl GenericClient, holds_max: i64) -> Result<Vec<OpenHold>, WindowError> {
    let found = db.query(include_str!("sql/load.sql"), &[&holds_max]).await?;
    found.iter().map(open_hold).collect()
}

/// Opens the hold of a topic, or finds the one that is open, and answers its number.
///
/// # Errors
/// [`WindowError::Fenced`], [`WindowError::Database`].
pub async fn open_topic(
    db: &impl GenericClient,
    fence: i64,
    topic: &str,
    code: &str,
    detail: &str,
) -> Result<i64, WindowError> {
    let row = db.query_opt(include_str!("sql/open_topic.sql"), &[&fence, &topic, &code, &detail]).await?;
    Ok(row.ok_or(WindowError::Fenced { fence })?.try_get(0)?)
}

/// Opens the hold of a refused row's key, or finds the one that is open; a row without a key gets one of its own. No row
/// is under it before [`park`]: a crash in between leaves an empty hold.
///
/// # Errors
/// [`WindowError::Fenced`], also when there is no such row; [`WindowError::Database`].
pub async fn open_row(
    db: &impl GenericClient,
    fence: i64,
    refused: &Refused<'_>,
) -> Result<OpenHold, WindowError> {
    let Refused { seq, code, detail } = refused;
    let row = db.query_opt(include_str!("sql/open_row.sql"), &[&fence, seq, code, detail]).await?;
    open_hold(&row.ok_or(WindowError::Fenced { fence })?)
}

/// Moves the cursor over rows that were acknowledged and over rows that are held, and copies the held ones whole, in one
/// statement: neither happens without the other.
///
/// # Errors
/// [`WindowError::Fenced`], also when a held row is not there or its hold has ended; [`WindowError::Database`].
pub async fn park(
    db: &impl GenericClient,
    cursor: &mut Cursor,
    batch: Batch,
    held: &[Held],
) -> Result<(), WindowError> {
    let Cursor { fence, window: Window { from, to, after_seq, .. }, .. } = &*cursor;
    let Batch { last_seq, events } = batch;
    let seqs: Vec<i64> = held.iter().map(|held| held.seq).collect();
    let holds: Vec<i64> = held.iter().map(|held| held.hold_id).collect();
    let refused: Vec<bool> = held.iter().map(|held| held.is_refused).collect();
    let row = db
        .query_one(
            include_str!("sql/park.sql"),
            &[fence, after_seq, &last_seq, &events, from, to, &seqs, &holds, &refused],
        )
        .await?;
    if row.try_get::<_, i64>(0)? == 0 {
        return Err(WindowError::Fenced { fence: *fence });
    }
    cursor.window.after_seq = last_seq;
    Ok(())
}

/// The next rows of a hold that are to be sent, after `after_seq` and before the first refused one, at most a page.
///
/// # Errors
/// [`WindowError::Database`].
pub async fn page(
    db: &impl GenericClient,
    hold_id: i64,
    after_seq: i64,
    limits: PageLimits,
) -> Result<Page, WindowError> {
    let PageLimits { rows_max, bytes_max } = limits;
    let found =
        db.query(include_str!("sql/page.sql"), &[&hold_id, &after_seq, &rows_max, &bytes_max]).await?;
    Ok(Page { rows: found.into_iter().map(Row::try_from).collect::<Result<_, _>>()? })
}

/// Notes that Kafka acknowledged parked rows. One that was discarded in the meantime is `sent` nevertheless, because it
/// was.
///
/// # Errors
/// [`WindowError::Fenced`], [`WindowError::Database`].
pub async fn settle(
    db: &impl GenericClient,
    fence: i64,
    hold_id: i64,
    seqs: &[i64],
) -> Result<(), WindowError> {
    let row = db.query_opt(include_str!("sql/settle.sql"), &[&fence, &hold_id, &seqs]).await?;
    fenced_unless(row, fence)
}

/// Notes that a row was refused again. The request that led to this try is answered by it; a later one stands.
///
/// # Errors
/// [`WindowError::Fenced`], [`WindowError::Database`].
pub async fn refuse(
    db: &impl GenericClient,
    fence: i64,
    hold_id: i64,
    refused: &Refused<'_>,
    answered: Option<SystemTime>,
) -> Result<(), WindowError> {
    let Refused { seq, code, detail } = refused;
    let row = db
        .query_opt(include_str!("sql/refuse.sql"), &[&fence, &hold_id, seq, code, detail, &answered])
        .await?;
    fenced_unless(row, fence)
}

/// Moves a refused row of a held topic, and the later rows of its key, under a hold of their own: the rest of the topic
/// goes on. `to_hold_id` is of the row's key, or of the row alone when it has none.
///
/// # Errors
/// [`WindowError::Fenced`], [`WindowError::Database`].
pub async fn transfer(
    db: &impl GenericClient,
    fence: i64,
    from_hold_id: i64,
    to_hold_id: i64,
    refused: &Refused<'_>,
) -> Result<(), WindowError> {
    let Refused { seq, code, detail } = refused;
    let row = db
        .query_opt(include_str!("sql/transfer.sql"), &[&fence, &from_hold_id, &to_hold_id, seq, code, detail])
        .await?;
    fenced_unless(row, fence)
}

/// Ends a hold if no undecided row is left under it, and answers whether it did.
///
/// # Errors
/// [`WindowError::Fenced`], [`WindowError::Database`].
pub async fn end(db: &impl GenericClient, fence: i64, hold_id: i64) -> Result<bool, WindowError> {
    let row = db.query_opt(include_str!("sql/end.sql"), &[&fence, &hold_id]).await?;
    Ok(row.ok_or(WindowError::Fenced { fence })?.try_get(0)?)
}

/// Answers a request to go on that could not be followed; a later one stands.
///
/// # Errors
/// [`WindowError::Fenced`], [`WindowError::Database`].
pub async fn stand(
    db: &impl GenericClient,
    fence: i64,
    hold_id: i64,
    answered: SystemTime,
) -> Result<(), WindowError> {
    let row = db.query_opt(include_str!("sql/stand.sql"), &[&fence, &hold_id, &answered]).await?;
    fenced_unless(row, fence)
}

/// Says why a hold is still open: a cause may change while it lasts.
///
/// # Errors
/// [`WindowError::Fenced`], [`WindowError::Database`].
pub async fn explain(
    db: &impl GenericClient,
    fence: i64,
    hold_id: i64,
    code: &str,
    detail: &str,
) -> Result<(), WindowError> {
    let row = db.query_opt(include_str!("sql/explain.sql"), &[&fence, &hold_id, &code, &detail]).await?;
    fenced_unless(row, fence)
}

/// The open holds that somebody wants to go on, and since when.
///
/// # Errors
/// [`WindowError::Database`].
pub async fn requested(db: &impl GenericClient) -> Result<Vec<(i64, SystemTime)>, WindowError> {
    let found = db.query(include_str!("sql/requested.sql"), &[]).await?;
    let request = |row: &Found| Ok((row.try_get("hold_id")?, row.try_get("resume_requested_at")?));
    found.iter().map(request).collect()
}

/// How many parked rows are refused, and how many wait.
///
/// # Errors
/// [`WindowError::Database`].
pub async fn count_parked(db: &impl GenericClient) -> Result<(i64, i64), WindowError> {
    let row = db.query_one(include_str!("sql/count_parked.sql"), &[]).await?;
    Ok((row.try_get("refused")?, row.try_get("waiting")?))
}

fn open_hold(row: &Found) -> Result<OpenHold, WindowError> {
    let digest: Option<Vec<u8>> = row.try_get("key_digest")?;
    Ok(OpenHold {
        hold_id: row.try_get("hold_id")?,
        // An unknown word would be a wider hold of a later version; the widest of ours is never wrong.
        scope: Scope::parse(row.try_get("scope")?).unwrap_or(Scope::Topic),
        topic: row.try_get("topic")?,
        key_digest: digest.and_then(|digest| digest.try_into().ok()),
        code: row.try_get("code")?,
        detail: row.try_get("detail")?,
        resume_requested_at: row.try_get("resume_requested_at")?,
        is_empty: row.try_get("is_empty")?,
    })
}

fn fenced_unless(row: Option<Found>, fence: i64) -> Result<(), WindowError> {
    row.map(|_| ()).ok_or(WindowError::Fenced { fence })
}
