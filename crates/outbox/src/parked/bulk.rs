//! One decision about many rows: all that one cause keeps from being sent.

use tokio_postgres::GenericClient;
use tokio_postgres::types::Type;

use super::ParkedError;
use super::decision::{Decision, Verb, resume};
use super::row::Filter;

/// The most rows that one decision is about.
pub const ROWS_DECIDED_MAX: i64 = 1_000;

/// What a decision about many did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Matching {
    /// The rows that it put elsewhere.
    pub rows: u64,
    /// The holds that were asked to go on.
    pub holds: u64,
    /// Whether there may be more rows, for the same decision once more.
    pub more: bool,
}

/// Carries out a decision about every refused row that matches and, where rows are discarded, about the waiting ones of
/// a topic that is held itself, in the caller's transaction. A retry also asks the held topics to go on.
///
/// # Errors
/// [`ParkedError`].
pub async fn decide_matching(
    tx: &impl GenericClient,
    filter: Filter<'_>,
    decision: Decision<'_>,
) -> Result<Matching, ParkedError> {
    let discards = decision.verb == Verb::Discard;
    let Filter { topic, code } = filter;
    let found = tx
        .query_typed(
            include_str!("matching.sql"),
            &[
                (&topic, Type::TEXT),
                (&code, Type::TEXT),
                (&discards, Type::BOOL),
                (&ROWS_DECIDED_MAX, Type::INT8),
            ],
        )
        .await?;
    let mut seqs = Vec::with_capacity(found.len());
    let mut hold_ids = Vec::with_capacity(found.len());
    for row in &found {
        seqs.push(row.try_get::<_, i64>("seq")?);
        hold_ids.push(row.try_get::<_, i64>("hold_id")?);
    }
    let topics =
        tx.query_typed(include_str!("held_topics.sql"), &[(&topic, Type::TEXT), (&code, Type::TEXT)]).await?;
    for row in &topics {
        hold_ids.push(row.try_get("hold_id")?);
    }
    let rows = tx
        .execute_typed(
            include_str!("decide_all.sql"),
            &[
                (&seqs, Type::INT8_ARRAY),
                (&decision.verb.leads_to().as_str(), Type::TEXT),
                (&decision.by, Type::TEXT),
                (&decision.reason, Type::TEXT),
            ],
        )
        .await?;
    hold_ids.dedup();
    let holds = resume(tx, &hold_ids).await?;
    Ok(Matching { rows, holds, more: i64::try_from(seqs.len()) == Ok(ROWS_DECIDED_MAX) })
}
