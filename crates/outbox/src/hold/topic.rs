//! Which topic of a name was sent to. One that was deleted and made again has another id, and nothing of the old one.

use jiff::Timestamp;
use tokio_postgres::GenericClient;

use crate::window::WindowError;

/// What is recorded of a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicRecord {
    /// Its name.
    pub topic: String,
    /// Its id as Kafka's own tools write it (base64, URL-safe).
    pub topic_id: String,
    /// Since when.
    pub recorded_at: Timestamp,
    /// Who agreed to it, if it is not the first.
    pub decided_by: Option<String>,
    /// Why.
    pub decision_reason: Option<String>,
}

/// The relay's side: records a topic's id on first use, and answers the one that is recorded.
///
/// # Errors
/// [`WindowError::Fenced`], [`WindowError::Database`].
pub async fn record_topic(
    db: &impl GenericClient,
    fence: i64,
    topic: &str,
    topic_id: &str,
) -> Result<String, WindowError> {
    let recorded = db.query_opt(include_str!("sql/record_topic.sql"), &[&fence, &topic, &topic_id]).await?;
    Ok(recorded.ok_or(WindowError::Fenced { fence })?.try_get(0)?)
}

/// The recorded id of a topic, `None` when nothing was ever sent to it.
///
/// # Errors
/// [`WindowError::Database`].
pub async fn recorded_id(db: &impl GenericClient, topic: &str) -> Result<Option<String>, WindowError> {
    let row = db.query_opt(include_str!("sql/recorded_id.sql"), &[&topic]).await?;
    Ok(row.map(|row| row.try_get(0)).transpose()?)
}

/// Every topic that was ever sent to, by name.
///
/// # Errors
/// Whatever Postgres says.
pub async fn topics(db: &impl GenericClient) -> Result<Vec<TopicRecord>, tokio_postgres::Error> {
    let found = db.query(include_str!("sql/topics.sql"), &[]).await?;
    let record = |row: &tokio_postgres::Row| {
        Ok(TopicRecord {
            topic: row.try_get("topic")?,
            topic_id: row.try_get("topic_id")?,
            recorded_at: row.try_get("recorded_at")?,
            decided_by: row.try_get("decided_by")?,
            decision_reason: row.try_get("decision_reason")?,
        })
    };
    found.iter().map(record).collect()
}

/// The operator's side: agrees that the topic of that name is now the one with `topic_id`. The relay finds out by itself
/// and goes on; [`crate::wake`] makes it sooner. Answers the id that was recorded before, `None` when there is no record
/// of the topic and so nothing to agree to.
///
/// # Errors
/// Whatever Postgres says.
pub async fn accept_topic(
    db: &impl GenericClient,
    topic: &str,
    topic_id: &str,
    decided_by: &str,
    reason: &str,
) -> Result<Option<String>, tokio_postgres::Error> {
    let row = db
        .query_opt(include_str!("sql/accept_topic.sql"), &[&topic, &topic_id, &decided_by, &reason])
        .await?;
    row.map(|row| row.try_get(0)).transpose()
}
