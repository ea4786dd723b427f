//! A consumer group's declared bond to a topic.

use tokio_postgres::GenericClient;

/// Why a group was not bound.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Postgres refused the statement or the connection was lost.
    #[error("postgres")]
    Postgres(#[from] tokio_postgres::Error),
    /// The group's positions belong to another topic of the same name.
    #[error("group {group} is bound to topic {topic} with id {bound}, and the topic's id is {actual}")]
    BoundToAnother {
        /// The consumer group.
        group: String,
        /// The topic's name.
        topic: String,
        /// The id that is stored.
        bound: String,
        /// The id that was to be stored.
        actual: String,
    },
}

/// Binds `group` to the topic with that id, once: from then on a partition without a stored position starts at 0.
/// Answers whether the binding is new. `db` must find the consumer's tables through its `search_path`.
///
/// # Errors
/// [`BindError::BoundToAnother`] when another id is stored, and whatever Postgres says.
pub async fn bind_topic(
    db: &impl GenericClient,
    group: &str,
    topic: &str,
    topic_id: &str,
) -> Result<bool, BindError> {
    let made = db.execute(include_str!("topic/bind.sql"), &[&group, &topic, &topic_id]).await?;
    if made == 1 {
        return Ok(true);
    }
    match bound_id(db, group, topic).await? {
        Some(bound) if bound != topic_id => Err(BindError::BoundToAnother {
            group: group.to_owned(),
            topic: topic.to_owned(),
            bound,
            actual: topic_id.to_owned(),
        }),
        Some(_) | None => Ok(false),
    }
}

/// The id that the group is bound to, if it is.
pub(crate) async fn bound_id(
    db: &impl GenericClient,
    group: &str,
    topic: &str,
) -> Result<Option<String>, tokio_postgres::Error> {
    let row = db.query_opt(include_str!("topic/bound_id.sql"), &[&group, &topic]).await?;
    row.map(|row| row.try_get(0)).transpose()
}
