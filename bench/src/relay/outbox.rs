//! The two tables that the same events are written into.

use anyhow::{Context, Result};
use futures_util::pin_mut;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Statement};

use super::event::{Event, ID, SOURCE, TYPE, VERSION};
use crate::progress::Meter;

/// Rows of one transaction of a backlog.
const TRANSACTION_ROWS: u64 = 100;

/// How often a person hears of it, in transactions.
const PROGRESS_TRANSACTIONS: u64 = 50;

/// Whose table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outbox {
    /// `outbox.events`, as Waybill's migrations make it.
    Waybill,
    /// What Debezium's event router wants, as its documentation lays it out.
    Debezium,
}

impl Outbox {
    fn copy(self) -> &'static str {
        match self {
            Self::Waybill => include_str!("sql/copy_waybill.sql"),
            Self::Debezium => include_str!("sql/copy_debezium.sql"),
        }
    }

    fn insert(self) -> &'static str {
        match self {
            Self::Waybill => include_str!("sql/insert_waybill.sql"),
            Self::Debezium => include_str!("sql/insert_debezium.sql"),
        }
    }

    fn columns(self) -> &'static [Type] {
        match self {
            Self::Waybill => {
                &[Type::TEXT, Type::BYTEA, Type::TEXT, Type::TEXT_ARRAY, Type::BYTEA_ARRAY, Type::BYTEA]
            }
            Self::Debezium => {
                &[Type::TEXT, Type::TEXT, Type::TEXT, Type::TEXT, Type::TEXT, Type::TEXT, Type::BYTEA]
            }
        }
    }

    /// Removes every row. The relay's cursor counts transactions, so it stands where it stood.
    pub(crate) async fn empty(self, db: &Client) -> Result<()> {
        let truncate = match self {
            Self::Waybill => "TRUNCATE outbox.events",
            Self::Debezium => "TRUNCATE outbox",
        };
        db.batch_execute(truncate).await.context("the outbox cannot be emptied")
    }

    /// Commits events 0 to `rows` in transactions of [`TRANSACTION_ROWS`], and has all of it on disk.
    pub(crate) async fn fill(self, db: &Client, topic: &str, rows: u64, meter: &Meter) -> Result<()> {
        // One flush at the end instead of thousands: how the backlog came to be is not what is measured.
        db.batch_execute("SET synchronous_commit = off").await?;
        let mut number = 0;
        while number < rows {
            let end = rows.min(number + TRANSACTION_ROWS);
            self.copy_rows(db, topic, number..end).await?;
            number = end;
            if number % (TRANSACTION_ROWS * PROGRESS_TRANSACTIONS) == 0 {
                meter.set(number);
            }
        }
        db.batch_execute("RESET synchronous_commit").await?;
        db.batch_execute("CHECKPOINT").await.context("the backlog cannot be made durable")
    }

    async fn copy_rows(self, db: &Client, topic: &str, numbers: std::ops::Range<u64>) -> Result<()> {
        let writer = BinaryCopyInWriter::new(db.copy_in(self.copy()).await?, self.columns());
        pin_mut!(writer);
        for number in numbers {
            let row = Row::of(topic, number);
            writer.as_mut().write(&self.values(&row)).await?;
        }
        writer.finish().await.context("the backlog is not taken")?;
        Ok(())
    }

    /// The statement that writes one row.
    pub(crate) async fn prepare(self, db: &Client) -> Result<Statement> {
        Ok(db.prepare_typed(self.insert(), self.columns()).await?)
    }

    /// What one row consists of, in the order of [`Outbox::columns`].
    pub(crate) fn values<'row>(self, row: &'row Row<'row>) -> Vec<&'row (dyn ToSql + Sync)> {
        match self {
            Self::Waybill => {
                vec![
                    &row.topic,
                    &row.key,
                    &row.event.id,
                    &row.header_names,
                    &row.header_values,
                    &row.event.payload,
                ]
            }
            Self::Debezium => vec![
                &row.event.id,
                &row.topic,
                &row.event.key,
                &TYPE.1,
                &SOURCE.1,
                &VERSION.1,
                &row.event.payload,
            ],
        }
    }
}

/// One event in the forms that the two tables want.
#[derive(Debug)]
pub(crate) struct Row<'topic> {
    topic: &'topic str,
    event: Event,
    key: Vec<u8>,
    header_names: Vec<&'static str>,
    header_values: Vec<Vec<u8>>,
}

impl<'topic> Row<'topic> {
    pub(crate) fn of(topic: &'topic str, number: u64) -> Self {
        let event = Event::of(number);
        let constant = |value: &str| value.as_bytes().to_vec();
        Self {
            topic,
            key: event.key.clone().into_bytes(),
            header_names: vec![ID, TYPE.0, SOURCE.0, VERSION.0],
            header_values: vec![
                event.id.clone().into_bytes(),
                constant(TYPE.1),
                constant(SOURCE.1),
                constant(VERSION.1),
            ],
            event,
        }
    }
}
