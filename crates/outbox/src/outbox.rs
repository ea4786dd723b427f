//! One outbox, as its writers hold it.

use std::sync::Arc;

use tokio_postgres::types::Type;
use tokio_postgres::{Client, GenericClient};

use crate::append::{AppendError, Event, check, wake};
use crate::schema_name::{SchemaName, SchemaNameError};

/// The schema of an outbox that nobody named otherwise.
const DEFAULT_SCHEMA: &str = "outbox";

/// One outbox: a schema of the writer's own database, made by `waybill outbox install`. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Outbox {
    insert: Arc<str>,
}

impl Outbox {
    /// The outbox in this schema. Nothing is asked of the database.
    ///
    /// # Errors
    /// A name that can be no outbox's schema.
    pub fn in_schema(name: &str) -> Result<Self, SchemaNameError> {
        let schema: SchemaName = name.parse()?;
        Ok(Self { insert: statement(&schema.quoted()) })
    }

    /// Writes one event, in the caller's transaction, and answers its `seq`.
    ///
    /// Writers of one key must hold the row lock of that key's aggregate when they call this: it is what makes the order
    /// of `seq` the order of their commits. The transaction must not commit after an error.
    ///
    /// # Errors
    /// An event that Kafka would refuse is refused here, and nothing was sent to the database. A row that a trigger took
    /// is an error too; see [`AppendError`].
    pub async fn append(&self, tx: &impl GenericClient, event: &Event<'_>) -> Result<i64, AppendError> {
        check(event)?;
        let headers = Headers::of(event);
        let appended = tx
            .query_typed_opt(
                &self.insert,
                &[
                    (&event.topic, Type::TEXT),
                    (&event.key, Type::BYTEA),
                    (&event.event_id, Type::TEXT),
                    (&headers.names, Type::TEXT_ARRAY),
                    (&headers.values, Type::BYTEA_ARRAY),
                    (&event.payload, Type::BYTEA),
                ],
            )
            .await?;
        Ok(appended.ok_or_else(|| swallowed(event))?.try_get(0)?)
    }

    /// [`Outbox::append`] for a transaction of sqlx: `outbox.append_sqlx(&mut *tx, &event)`.
    ///
    /// # Errors
    /// As [`Outbox::append`].
    #[cfg(feature = "sqlx")]
    pub async fn append_sqlx(
        &self,
        tx: &mut sqlx::PgConnection,
        event: &Event<'_>,
    ) -> Result<i64, AppendError> {
        check(event)?;
        let headers = Headers::of(event);
        // Safe: the one part that is not a literal of this crate is a validated name.
        let appended = sqlx::query_scalar(sqlx::AssertSqlSafe(Arc::clone(&self.insert)))
            .bind(event.topic)
            .bind(event.key)
            .bind(event.event_id)
            .bind(headers.names)
            .bind(headers.values)
            .bind(event.payload)
            .fetch_optional(tx)
            .await?;
        appended.ok_or_else(|| swallowed(event))
    }

    /// Wakes the relay. Call it after the commit. It takes no transaction: one with a NOTIFY takes a lock that serialises every
    /// such commit of the whole cluster, and this one's commit waits for no flush.
    ///
    /// # Errors
    /// An error is harmless, for the relay polls as well.
    pub async fn wake(&self, db: &Client) -> Result<(), tokio_postgres::Error> {
        wake(db).await
    }
}

/// The outbox in the schema `outbox`.
impl Default for Outbox {
    fn default() -> Self {
        Self { insert: statement(DEFAULT_SCHEMA) }
    }
}

fn statement(schema: &str) -> Arc<str> {
    include_str!("append/append.sql").replace("{schema}", schema).into()
}

fn swallowed(event: &Event<'_>) -> AppendError {
    AppendError::Swallowed { topic: event.topic.to_owned(), event_id: event.event_id.to_owned() }
}

/// The headers as two columns hold them.
struct Headers<'a> {
    names: Vec<&'a str>,
    values: Vec<Option<&'a [u8]>>,
}

impl<'a> Headers<'a> {
    fn of(event: &Event<'a>) -> Self {
        let headers = event.headers.iter();
        let (names, values) = headers.map(|(name, value)| (name.as_str(), value.as_deref())).unzip();
        Self { names, values }
    }
}
