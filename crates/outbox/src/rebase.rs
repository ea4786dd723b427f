//! After a restore or a failover: says where the relay goes on, so that nothing is left out and little is sent twice.
//!
//! Files that were put back, or a standby that was promoted, go on counting transactions where the stored window left
//! off: the window holds. A dump that was read in is other: its rows keep the xids of the server that it was made of,
//! and this server gives the same ones out again. A window of before would take a new row for one that was sent long ago. So
//! the rows of before are told from those of after by who inserted them, the former are sent again by `seq` as far as the
//! old window had not passed them, and the window of the latter begins anew.
//!
//! Deliberately absent: Kafka. What the log holds and the database does not know is for whoever knows what an event means.

mod decision;

pub use decision::{Found, Grounds, Refusal, Wanted, Way, decide};

use jiff::Timestamp;
use tokio_postgres::GenericClient;
use tokio_postgres::types::{ToSql, Type};

use crate::window::{Identity, Snapshot, Window, Xid};

/// How long the cursor's row is waited for.
const LOCK_TIMEOUT: &str = "5s";

/// Why a rebase could not be looked at or carried out.
#[derive(Debug, thiserror::Error)]
pub enum RebaseError {
    /// There is no outbox in the schema, or its cursor is gone.
    #[error("there is no outbox with a cursor in this schema")]
    Missing,
    /// A relay took the lease in between, which it can only on the server that the cursor is of.
    #[error("the cursor was changed meanwhile")]
    Changed,
    /// The database failed. Nothing was changed.
    #[error("the outbox could not be looked at or changed")]
    Database(#[from] tokio_postgres::Error),
}

/// What a topic's rows are that would be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicRows {
    /// The topic.
    pub topic: String,
    /// How many rows.
    pub rows: i64,
    /// The first.
    pub first_seq: i64,
    /// The last.
    pub last_seq: i64,
}

/// Where the cursor goes, and what follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rebased {
    /// The fence before; the rebase adds one.
    pub fence: i64,
    /// The server that the cursor was of; `None` before the first relay.
    pub known: Option<Identity>,
    /// The server that it is of now.
    pub found: Identity,
    /// How it goes on.
    pub way: Way,
    /// Where the relay goes on.
    pub window: Window,
    /// What is sent of before the restore, topic by topic.
    pub before: Vec<TopicRows>,
    /// What waits of after it.
    pub after: Vec<TopicRows>,
}

/// Looks, decides and, in the caller's transaction, moves the cursor: under the lock of its row, with another fence, free
/// for any relay. Whoever only wants to know rolls back. `search_path` must be the outbox's schema, and the login its owner.
///
/// # Errors
/// [`RebaseError`]; the outer result. The inner one is why it is not done.
pub async fn rebase(
    tx: &impl GenericClient,
    wanted: Wanted,
) -> Result<Result<Rebased, Refusal>, RebaseError> {
    tx.batch_execute(&format!("SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")).await?;
    let (fence, known, identity) = identities(tx).await?;
    let is_same = known.as_ref().is_some_and(|known| known.system_identifier == identity.system_identifier);
    if !wanted.only_looks && (!is_same || wanted.all) {
        tx.batch_execute(include_str!("rebase/hold_writers.sql")).await?;
    }
    let found = look(tx, known, identity).await?;
    let (way, window) = match decide(&found, wanted) {
        Ok(decided) => decided,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let (before, after) = rows(tx, &window).await?;
    tx.query_typed(include_str!("rebase/raise_seq.sql"), &[]).await?;
    let moved = tx
        .execute_typed(
            include_str!("rebase/move.sql"),
            &[
                (&fence, Type::INT8),
                (&window.from, Type::PG_SNAPSHOT),
                (&window.to, Type::PG_SNAPSHOT),
                (&window.after_seq, Type::INT8),
                (&window.floor_seq, Type::INT8),
                (&window.resend_after_seq, Type::INT8),
                (&found.identity.system_identifier, Type::TEXT),
                (&found.identity.timeline, Type::INT4),
            ],
        )
        .await?;
    if moved == 0 {
        return Err(RebaseError::Changed);
    }
    let Found { known, identity, .. } = found;
    Ok(Ok(Rebased { fence, known, found: identity, way, window, before, after }))
}

/// When Kafka last acknowledged something that this database knows of; `None` when it knows of nothing.
///
/// # Errors
/// [`RebaseError::Database`].
pub async fn last_acknowledged(db: &impl GenericClient) -> Result<Option<Timestamp>, RebaseError> {
    let found = db.query_typed_opt(include_str!("rebase/last_batch.sql"), &[]).await?;
    Ok(found.map(|row| row.try_get("acknowledged_at")).transpose()?)
}

/// Locks the cursor, and answers its fence, the server that it is of and the one that answers.
async fn identities(tx: &impl GenericClient) -> Result<(i64, Option<Identity>, Identity), RebaseError> {
    let row = tx.query_typed_opt(include_str!("rebase/lock.sql"), &[]).await?.ok_or(RebaseError::Missing)?;
    let known = match (row.try_get("system_identifier")?, row.try_get("timeline")?) {
        (Some(system_identifier), Some(timeline)) => Some(Identity { system_identifier, timeline }),
        _ => None,
    };
    let found = Identity {
        system_identifier: row.try_get("found_system_identifier")?,
        timeline: row.try_get("found_timeline")?,
    };
    Ok((row.try_get("fence")?, known, found))
}

/// The window, the server's next transaction, and who inserted the rows.
async fn look(
    tx: &impl GenericClient,
    known: Option<Identity>,
    identity: Identity,
) -> Result<Found, RebaseError> {
    let row =
        tx.query_typed_opt(include_str!("rebase/window.sql"), &[]).await?.ok_or(RebaseError::Missing)?;
    let now: Snapshot = row.try_get("now")?;
    let foreign = tx.query_typed_one(include_str!("rebase/foreign.sql"), &[]).await?;
    Ok(Found {
        known,
        identity,
        window: Window {
            from: row.try_get("from_snapshot")?,
            to: row.try_get("to_snapshot")?,
            after_seq: row.try_get("after_seq")?,
            floor_seq: row.try_get("floor_seq")?,
            resend_after_seq: row.try_get("resend_after_seq")?,
        },
        next_xid: Xid(now.xmax().0),
        last_foreign_seq: foreign.try_get("last_foreign_seq")?,
        first_own_seq: foreign.try_get("first_own_seq")?,
    })
}

/// What is sent of before the restore and of after it, once the relay goes on from this window.
async fn rows(
    tx: &impl GenericClient,
    window: &Window,
) -> Result<(Vec<TopicRows>, Vec<TopicRows>), RebaseError> {
    let Window { from, to, after_seq, floor_seq, resend_after_seq } = window;
    let before = match resend_after_seq {
        Some(first) => count(tx, (from, to), *after_seq, *first, *floor_seq).await?,
        None => Vec::new(),
    };
    let nothing = Snapshot::of_nothing();
    let (own_window, own_after) = if resend_after_seq.is_some() {
        ((&nothing, &nothing), *floor_seq)
    } else {
        ((from, to), *after_seq)
    };
    let after = count(tx, own_window, own_after, *floor_seq, i64::MAX).await?;
    // Where the window holds, there is no telling them apart, and no need.
    Ok(if resend_after_seq.is_none() { (after, before) } else { (before, after) })
}

async fn count(
    tx: &impl GenericClient,
    (from, to): (&Snapshot, &Snapshot),
    after_seq: i64,
    above_seq: i64,
    up_to_seq: i64,
) -> Result<Vec<TopicRows>, RebaseError> {
    let parameters: [(&(dyn ToSql + Sync), Type); 5] = [
        (from, Type::PG_SNAPSHOT),
        (to, Type::PG_SNAPSHOT),
        (&after_seq, Type::INT8),
        (&above_seq, Type::INT8),
        (&up_to_seq, Type::INT8),
    ];
    let found = tx.query_typed(include_str!("rebase/to_send.sql"), &parameters).await?;
    let rows = found.iter().map(|row| {
        Ok(TopicRows {
            topic: row.try_get("topic")?,
            rows: row.try_get("rows")?,
            first_seq: row.try_get("first_seq")?,
            last_seq: row.try_get("last_seq")?,
        })
    });
    rows.collect::<Result<_, tokio_postgres::Error>>().map_err(RebaseError::Database)
}
