//! One read-only snapshot of a source, with everything set that an export's rows depend on.

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio_postgres::{Client, Error};
use waybill_datasets::Reading;
use waybill_formats::SESSION_SETTINGS;

/// How long a reading transaction waits for a lock.
pub(crate) const LOCK_TIMEOUT_MS: i64 = 10_000;

/// How long it may stand idle: its client is gone or lost the thread.
const IDLE_TIMEOUT_MS: u64 = 60_000;

/// What a reading transaction may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long one statement may run, in milliseconds.
    pub statement_timeout_ms: i64,
}

/// What a snapshot is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AsOf {
    /// Everything that was committed by then is in it; unknown on a standby that has replayed nothing yet.
    pub time: Option<Timestamp>,
    /// Nothing that was committed beyond this position of the log is in it.
    pub lsn: String,
    /// Whether it is a standby's.
    pub is_standby: bool,
}

/// A snapshot, held open by the transaction that reads it.
#[derive(Debug)]
pub struct Snapshot<'a> {
    client: &'a Client,
    as_of: AsOf,
}

impl<'a> Snapshot<'a> {
    /// Begins the one transaction in which a file's rows are read.
    ///
    /// # Errors
    /// Postgres refused, or does not answer.
    pub async fn open(client: &'a Client, reading: &Reading, limits: Limits) -> Result<Self, Error> {
        let since = client.query_one(include_str!("sql/since.sql"), &[]).await?;
        client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
        let (names, values) = settings(reading, limits);
        client.execute(include_str!("sql/set.sql"), &[&names, &values]).await?;
        let lsn = client.query_one(include_str!("sql/lsn.sql"), &[]).await?.try_get("lsn")?;
        let as_of = AsOf { time: since.try_get("since")?, lsn, is_standby: since.try_get("is_standby")? };
        Ok(Self { client, as_of })
    }

    /// What it is of.
    #[must_use]
    pub const fn as_of(&self) -> &AsOf {
        &self.as_of
    }

    /// How many rows the planner thinks there are. `None` where it says nothing that could be read.
    ///
    /// # Errors
    /// Postgres refused, or does not answer.
    pub async fn estimate(&self, reading: &Reading) -> Result<Option<i64>, Error> {
        let plan: Value = self.client.query_one(&reading.explain(), &[]).await?.try_get(0)?;
        Ok(plan.pointer("/0/Plan/Plan Rows").and_then(Value::as_f64).map(|rows| rows as i64))
    }

    /// Ends the transaction. Whatever the server had still to say about the COPY was heard before this answers.
    ///
    /// # Errors
    /// The transaction had failed, or Postgres does not answer.
    pub async fn end(self) -> Result<(), Error> {
        self.client.batch_execute("COMMIT").await
    }
}

fn settings(reading: &Reading, limits: Limits) -> (Vec<String>, Vec<Value>) {
    let bounds = [
        ("statement_timeout", limits.statement_timeout_ms.to_string()),
        ("lock_timeout", LOCK_TIMEOUT_MS.to_string()),
        ("idle_in_transaction_session_timeout", IDLE_TIMEOUT_MS.to_string()),
    ];
    let formats = SESSION_SETTINGS.iter().map(|(name, value)| ((*name).to_owned(), json!(value)));
    let bounds = bounds.into_iter().map(|(name, value)| (name.to_owned(), json!(value)));
    let values = reading.settings.iter().map(|setting| (setting.name.clone(), setting.value.clone()));
    formats.chain(bounds).chain(values).unzip()
}
