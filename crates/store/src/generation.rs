//! Generations of a projection. The search and the stats schema have one table of them each, of the same form; like
//! positions, they are reached through the connection's `search_path`.

use tokio_postgres::GenericClient;

use crate::StoreError;

/// A projection's generation as the live role consumes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generation {
    /// From 1.
    pub generation: i32,
    /// Its consumer group, without the installation's prefix.
    pub consumer_group: String,
}

/// The generation that the live role consumes; `None` while there is none.
///
/// # Errors
/// [`StoreError::Postgres`].
pub async fn active(db: &impl GenericClient) -> Result<Option<Generation>, StoreError> {
    let row = db.query_typed_opt(include_str!("generation/active.sql"), &[]).await?;
    row.map(|row| Ok(Generation { generation: row.try_get(0)?, consumer_group: row.try_get(1)? })).transpose()
}
