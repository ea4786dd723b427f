//! When the oldest row came to be that the cursor has not passed, found without looking at those that it has.

use jiff::Timestamp;
use tokio_postgres::GenericClient;
use tokio_postgres::types::{ToSql, Type};

use super::Position;
use super::backlog::to_resend;
use crate::parked::ParkedError;
use crate::window::{Snapshot, Window, Xid};

/// So many rows of each stretch of transactions are looked at: the first to begin is not always the first to write.
const UNSEEN_ROWS: i64 = 100;

/// So many rows are looked at behind the last one that was passed, before the window's next one is searched.
const NEXT_ROWS_MAX: i64 = 1_000;

/// When the oldest of the rows came to be that the cursor has not passed. Costs less than to count them, and no more
/// however many were passed.
///
/// # Errors
/// [`ParkedError`].
pub async fn oldest(db: &impl GenericClient, position: &Position) -> Result<Option<Timestamp>, ParkedError> {
    let window = &position.window;
    let resent = to_resend(db, window, UNSEEN_ROWS).await?.oldest_at;
    let nothing = Snapshot::of_nothing();
    let unsent = if window.is_resend() || (window.is_at_start() && window.from == nothing) {
        // Of this server's own rows none was passed.
        let everything = Snapshot::of_everything();
        next(db, &nothing, &everything, window.floor_seq).await?.oldest_at
    } else if window.is_at_start() {
        unseen(db, &window.from, window.floor_seq).await?
    } else {
        let beyond = unseen(db, &window.to, window.floor_seq).await?;
        [left_over(db, window).await?, beyond].into_iter().flatten().min()
    };
    Ok([resent, unsent].into_iter().flatten().min())
}

/// The first rows that a snapshot does not see, in the order of their transactions.
async fn unseen(
    db: &impl GenericClient,
    snapshot: &Snapshot,
    floor_seq: i64,
) -> Result<Option<Timestamp>, ParkedError> {
    let last_seen = Xid(snapshot.xmax().0.saturating_sub(1));
    let in_progress = snapshot.in_progress();
    let parameters: [(&(dyn ToSql + Sync), Type); 4] = [
        (&last_seen, Type::XID8),
        (&in_progress, Type::XID8_ARRAY),
        (&floor_seq, Type::INT8),
        (&UNSEEN_ROWS, Type::INT8),
    ];
    Ok(db.query_typed_one(include_str!("unseen.sql"), &parameters).await?.try_get("created_at")?)
}

/// What is left of a window that was passed in part. Its next row comes right behind the last one that was passed, unless
/// it holds a transaction that had taken its `seq` long before: then the relay's own survey says where the next row is.
async fn left_over(db: &impl GenericClient, window: &Window) -> Result<Option<Timestamp>, ParkedError> {
    let Window { from, to, after_seq, .. } = window;
    let found = next(db, from, to, *after_seq).await?;
    if found.oldest_at.is_some() || found.looked_at < NEXT_ROWS_MAX {
        return Ok(found.oldest_at);
    }
    let ended = from.ended_by(to);
    let parameters: [(&(dyn ToSql + Sync), Type); 4] = [
        (from, Type::PG_SNAPSHOT),
        (to, Type::PG_SNAPSHOT),
        (after_seq, Type::INT8),
        (&ended, Type::XID8_ARRAY),
    ];
    let survey = db.query_typed_one(include_str!("../window/sql/survey.sql"), &parameters).await?;
    match survey.try_get::<_, Option<i64>>("first_seq")? {
        Some(first_seq) => Ok(next(db, from, to, first_seq.saturating_sub(1)).await?.oldest_at),
        None => Ok(None),
    }
}

/// Some rows in the order of `seq`.
struct Next {
    looked_at: i64,
    /// When the oldest of those came to be that are of the window.
    oldest_at: Option<Timestamp>,
}

async fn next(
    db: &impl GenericClient,
    from: &Snapshot,
    to: &Snapshot,
    after_seq: i64,
) -> Result<Next, ParkedError> {
    let parameters: [(&(dyn ToSql + Sync), Type); 4] = [
        (from, Type::PG_SNAPSHOT),
        (to, Type::PG_SNAPSHOT),
        (&after_seq, Type::INT8),
        (&NEXT_ROWS_MAX, Type::INT8),
    ];
    let row = db.query_typed_one(include_str!("left_over.sql"), &parameters).await?;
    Ok(Next { looked_at: row.try_get("looked_at")?, oldest_at: row.try_get("created_at")? })
}
