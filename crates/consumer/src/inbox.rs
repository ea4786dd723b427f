//! The inbox: the event keys whose additive effect a consumer group has had.

use std::collections::HashSet;

use tokio_postgres::types::Type;
use tokio_postgres::{Error, GenericClient};

use crate::EventKey;

/// Records `keys` and gives back those that were not there. A key that occurs twice among them is new once.
pub(crate) async fn record(
    tx: &impl GenericClient,
    group: &str,
    mut keys: Vec<&EventKey>,
) -> Result<HashSet<EventKey>, Error> {
    keys.sort_unstable();
    let sources: Vec<&str> = keys.iter().map(|key| key.source.as_str()).collect();
    let ids: Vec<&str> = keys.iter().map(|key| key.id.as_str()).collect();
    let rows = tx
        .query_typed(
            include_str!("inbox/record.sql"),
            &[(&group, Type::TEXT), (&sources, Type::TEXT_ARRAY), (&ids, Type::TEXT_ARRAY)],
        )
        .await?;
    rows.iter().map(|row| Ok(EventKey { source: row.try_get(0)?, id: row.try_get(1)? })).collect()
}
