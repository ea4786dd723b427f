//! What waits, how fast it gets less, and what is held.

use jiff::Timestamp;
use tokio_postgres::GenericClient;
use tokio_postgres::types::{ToSql, Type};

use super::Position;
use super::oldest::oldest;
use crate::hold::Scope;
use crate::parked::{ParkedError, scope_of};
use crate::window::{Snapshot, Window};

/// Rows that wait are counted up to so many.
pub const ROWS_COUNTED_MAX: i64 = 100_000;

/// The rows of a hold are counted up to so many.
const HELD_COUNTED_MAX: i64 = 10_000;

/// So far back from the last row that was passed are rows looked for that a later window sends again, by `seq`.
const RESENT_LATER_SEQS_MAX: i64 = 1_000;

/// The most holds that are shown one by one.
pub const HOLDS_SHOWN_MAX: i64 = 100;

/// The rate is that of the last so many seconds.
pub const RATE_SECONDS: f64 = 60.0;

/// The rate looks at so many batches at most.
pub const BATCHES_LOOKED_AT_MAX: i64 = 10_000;

/// Committed rows that the cursor has not passed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Waiting {
    /// How many, up to [`ROWS_COUNTED_MAX`] of the windows and as many that are to be sent again.
    pub rows: i64,
    /// False: there may be more.
    pub is_exact: bool,
    /// What they take on disk, estimated; `None` while nothing is known of the table.
    pub bytes_estimate: Option<f64>,
    /// When the oldest of them came to be.
    pub oldest_at: Option<Timestamp>,
}

/// A hold that stands, with its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingHold {
    /// Which.
    pub hold_id: i64,
    /// What it holds.
    pub scope: Scope,
    /// Of which topic.
    pub topic: String,
    /// Of which key.
    pub key: Option<Vec<u8>>,
    /// Why.
    pub code: String,
    /// The same in words.
    pub detail: String,
    /// Since when.
    pub held_at: Timestamp,
    /// When it was asked last that its rows are sent.
    pub resume_requested_at: Option<Timestamp>,
    /// Its rows.
    pub rows: HeldRows,
}

/// The undecided rows of a hold, counted up to a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldRows {
    /// Refused.
    pub refused: i64,
    /// Waiting.
    pub waiting: i64,
    /// False: there are more.
    pub is_exact: bool,
    /// When the oldest came to be.
    pub oldest_at: Option<Timestamp>,
}

/// What the cursor has not passed.
///
/// # Errors
/// [`ParkedError`].
pub async fn waiting(db: &impl GenericClient, position: &Position) -> Result<Waiting, ParkedError> {
    let (window, nothing) = (&position.window, Snapshot::of_nothing());
    let mut waiting =
        Waiting { is_exact: true, oldest_at: oldest(db, position).await?, ..Waiting::default() };
    // While rows of before a restore are sent again, the window is still of before it, and says nothing of later rows.
    let (seen, passed) = if window.is_resend() { (&nothing, &nothing) } else { (&window.from, &window.to) };
    let in_progress = seen.in_progress();
    let parameters: [(&(dyn ToSql + Sync), Type); 6] = [
        (seen, Type::PG_SNAPSHOT),
        (passed, Type::PG_SNAPSHOT),
        (&window.after_seq, Type::INT8),
        (&window.floor_seq, Type::INT8),
        (&in_progress, Type::XID8_ARRAY),
        (&ROWS_COUNTED_MAX, Type::INT8),
    ];
    let counted = db.query_typed_one(include_str!("waiting.sql"), &parameters).await?;
    waiting.add(counted.try_get("rows")?);
    let resent = to_resend(db, window, ROWS_COUNTED_MAX).await?;
    waiting.add(resent.rows);
    waiting.is_exact &= resent.is_exact;
    let row = db.query_typed_one(include_str!("row_bytes.sql"), &[]).await?;
    let row_bytes: Option<f64> = row.try_get("bytes")?;
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let rows = waiting.rows as f64;
    waiting.bytes_estimate = row_bytes.map(|bytes| (bytes * rows).round());
    Ok(waiting)
}

/// Rows of before a restore that are still to be sent again.
#[derive(Debug, Clone, Copy)]
pub(super) struct ToResend {
    /// How many, up to the limit.
    rows: i64,
    /// False: there may be more.
    is_exact: bool,
    /// When the oldest of them came to be.
    pub(super) oldest_at: Option<Timestamp>,
}

pub(super) async fn to_resend(
    db: &impl GenericClient,
    window: &Window,
    limit: i64,
) -> Result<ToResend, ParkedError> {
    let Window { from, to, after_seq, floor_seq, resend_after_seq } = window;
    let Some(resend_after_seq) = resend_after_seq else {
        return Ok(ToResend { rows: 0, is_exact: true, oldest_at: None });
    };
    // The last window of them holds all that is left: what it has passed need not be looked at. Among what the first one has
    // passed are rows of the last, most of them close to where it is: all of it is not looked at again and again.
    let is_last = *to == Snapshot::of_everything();
    let looked_back_seqs = if is_last { 0 } else { RESENT_LATER_SEQS_MAX };
    let looked_at_after_seq = after_seq.saturating_sub(looked_back_seqs).max(*resend_after_seq);
    let parameters: [(&(dyn ToSql + Sync), Type); 6] = [
        (from, Type::PG_SNAPSHOT),
        (to, Type::PG_SNAPSHOT),
        (after_seq, Type::INT8),
        (floor_seq, Type::INT8),
        (&looked_at_after_seq, Type::INT8),
        (&limit, Type::INT8),
    ];
    let row = db.query_typed_one(include_str!("to_resend.sql"), &parameters).await?;
    let rows = row.try_get("rows")?;
    let is_exact = rows < limit && (is_last || looked_at_after_seq == *resend_after_seq);
    Ok(ToResend { rows, is_exact, oldest_at: row.try_get("created_at")? })
}

impl Waiting {
    fn add(&mut self, rows: i64) {
        self.rows += rows;
        self.is_exact &= rows < ROWS_COUNTED_MAX;
    }
}

/// How many rows a second Kafka acknowledged in the last minute, or since the first of the batches that are looked at.
///
/// # Errors
/// [`ParkedError`].
pub async fn rate(db: &impl GenericClient) -> Result<f64, ParkedError> {
    let parameters: &[(&(dyn ToSql + Sync), Type)] =
        &[(&RATE_SECONDS, Type::FLOAT8), (&BATCHES_LOOKED_AT_MAX, Type::INT8)];
    let row = db.query_typed_one(include_str!("rate.sql"), parameters).await?;
    let (rows, batches): (i64, i64) = (row.try_get("rows")?, row.try_get("batches")?);
    let seconds: f64 = row.try_get("seconds")?;
    let over = if batches < BATCHES_LOOKED_AT_MAX { RATE_SECONDS } else { seconds.max(1.0) };
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    let rows = rows as f64;
    Ok(rows / over)
}

/// How many holds stand, and the first [`HOLDS_SHOWN_MAX`] of them.
///
/// # Errors
/// [`ParkedError`].
pub async fn holds(db: &impl GenericClient) -> Result<(i64, Vec<StandingHold>), ParkedError> {
    let count = db.query_typed_one(include_str!("count_holds.sql"), &[]).await?.try_get("holds")?;
    let parameters: &[(&(dyn ToSql + Sync), Type)] =
        &[(&HOLDS_SHOWN_MAX, Type::INT8), (&HELD_COUNTED_MAX, Type::INT8)];
    let rows = db.query_typed(include_str!("holds.sql"), parameters).await?;
    let holds = rows
        .iter()
        .map(|row| {
            let (refused, waiting): (i64, i64) = (row.try_get("refused")?, row.try_get("waiting")?);
            Ok(StandingHold {
                hold_id: row.try_get("hold_id")?,
                scope: scope_of(row.try_get("scope")?)?,
                topic: row.try_get("topic")?,
                key: row.try_get("key")?,
                code: row.try_get("code")?,
                detail: row.try_get("detail")?,
                held_at: row.try_get("held_at")?,
                resume_requested_at: row.try_get("resume_requested_at")?,
                rows: HeldRows {
                    refused,
                    waiting,
                    is_exact: refused + waiting < HELD_COUNTED_MAX,
                    oldest_at: row.try_get("created_at")?,
                },
            })
        })
        .collect::<Result<_, ParkedError>>()?;
    Ok((count, holds))
}
