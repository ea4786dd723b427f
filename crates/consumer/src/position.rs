//! Positions: where a consumer group stands in a partition, and who may move it.

use tokio_postgres::types::Type;
use tokio_postgres::{Error, GenericClient};

use crate::start::StoredPosition;

/// One partition of a topic as one consumer group reads it: the key of a position.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) group: &'a str,
    pub(crate) topic: &'a str,
    pub(crate) partition: i32,
}

/// Takes the partition from whoever had it. The fence, and the position it now guards; `None` when there is none stored.
pub(crate) async fn take_fence(
    db: &impl GenericClient,
    place: Place<'_>,
) -> Result<Option<(i64, StoredPosition)>, Error> {
    let Place { group, topic, partition } = place;
    let row = db
        .query_typed_opt(
            include_str!("position/take_fence.sql"),
            &[(&group, Type::TEXT), (&topic, Type::TEXT), (&partition, Type::INT4)],
        )
        .await?;
    let Some(row) = row else { return Ok(None) };
    let stored = StoredPosition { topic_id: row.try_get(0)?, next_offset: row.try_get(1)? };
    Ok(Some((row.try_get(2)?, stored)))
}

/// Stores position 0 and answers its fence; `None` when another holder stored one first.
pub(crate) async fn record_zero(
    db: &impl GenericClient,
    place: Place<'_>,
    topic_id: &str,
) -> Result<Option<i64>, Error> {
    let Place { group, topic, partition } = place;
    let row = db
        .query_typed_opt(
            include_str!("position/record_zero.sql"),
            &[(&group, Type::TEXT), (&topic, Type::TEXT), (&partition, Type::INT4), (&topic_id, Type::TEXT)],
        )
        .await?;
    row.map(|row| row.try_get(0)).transpose()
}

/// A position's move, as its holder believes it to be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Move {
    pub(crate) fence: i64,
    pub(crate) expected: i64,
    pub(crate) next: i64,
}

/// What became of a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moved {
    /// It is made, if the transaction commits.
    Yes,
    /// The position is not the caller's, or stands elsewhere.
    Fenced,
    /// It would pass the offset at which the position was told to stop.
    Stopped(i64),
}

/// Moves the position inside the caller's transaction.
pub(crate) async fn advance(tx: &impl GenericClient, place: Place<'_>, step: Move) -> Result<Moved, Error> {
    let Place { group, topic, partition } = place;
    let guard: [(&(dyn tokio_postgres::types::ToSql + Sync), Type); 6] = [
        (&group, Type::TEXT),
        (&topic, Type::TEXT),
        (&partition, Type::INT4),
        (&step.fence, Type::INT8),
        (&step.expected, Type::INT8),
        (&step.next, Type::INT8),
    ];
    if tx.execute_typed(include_str!("position/advance.sql"), &guard).await? == 1 {
        return Ok(Moved::Yes);
    }
    let refused = tx.query_typed_opt(include_str!("position/why_refused.sql"), &guard[..5]).await?;
    refused.map_or(Ok(Moved::Fenced), |row| row.try_get(0).map(Moved::Stopped))
}
