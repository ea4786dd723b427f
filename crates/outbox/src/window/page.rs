//! The rows of a window, page by page.

use tokio_postgres::Error;

/// The bounds of one page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLimits {
    /// At most so many rows.
    pub rows_max: i64,
    /// No further row once the page holds so many bytes; a single row may be larger.
    pub bytes_max: i64,
}

/// One event, as Postgres sent it. What is to be sent of it is borrowed, so that nothing is copied before librdkafka does.
#[derive(Debug)]
pub struct Row {
    /// Its place in the order.
    pub seq: i64,
    /// Key, headers and payload in bytes, as the page's bound counts them.
    pub bytes: u64,
    columns: tokio_postgres::Row,
}

/// One event as it is to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record<'a> {
    /// The Kafka topic.
    pub topic: &'a str,
    /// The record's key.
    pub key: Option<&'a [u8]>,
    /// The names of its headers.
    pub header_names: Vec<&'a str>,
    /// The value of each of them.
    pub header_values: Vec<Option<&'a [u8]>>,
    /// The record's value.
    pub payload: Option<&'a [u8]>,
}

/// The columns of every statement that reads pages, by their place: looking for a name costs more than reading a number.
mod column {
    pub(super) const SEQ: usize = 0;
    pub(super) const TOPIC: usize = 1;
    pub(super) const KEY: usize = 2;
    pub(super) const HEADER_NAMES: usize = 3;
    pub(super) const HEADER_VALUES: usize = 4;
    pub(super) const PAYLOAD: usize = 5;
    pub(super) const BYTES: usize = 6;
}

impl Row {
    /// What is to be sent.
    ///
    /// # Errors
    /// When a text is no UTF-8, which only a database of another encoding can hold.
    pub fn record(&self) -> Result<Record<'_>, Error> {
        Ok(Record {
            topic: self.columns.try_get(column::TOPIC)?,
            key: self.columns.try_get(column::KEY)?,
            header_names: self.columns.try_get(column::HEADER_NAMES)?,
            header_values: self.columns.try_get(column::HEADER_VALUES)?,
            payload: self.columns.try_get(column::PAYLOAD)?,
        })
    }
}

impl TryFrom<tokio_postgres::Row> for Row {
    type Error = Error;

    fn try_from(columns: tokio_postgres::Row) -> Result<Self, Error> {
        let bytes: i64 = columns.try_get(column::BYTES)?;
        Ok(Self { seq: columns.try_get(column::SEQ)?, bytes: bytes.unsigned_abs(), columns })
    }
}

/// Rows in ascending `seq`.
#[derive(Debug, Default)]
pub struct Page {
    /// The rows.
    pub rows: Vec<Row>,
}

/// How a page ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageEnd {
    /// Its last row.
    pub last_seq: Option<i64>,
    /// Whether one of the bounds ended it, so that more rows may follow.
    pub is_full: bool,
}

impl Page {
    /// The bytes of its rows.
    pub fn bytes(&self) -> u64 {
        self.rows.iter().map(|row| row.bytes).sum()
    }

    /// How it ended.
    pub fn end(&self, limits: PageLimits) -> PageEnd {
        let rows = i64::try_from(self.rows.len()).unwrap_or(i64::MAX);
        let is_full =
            rows >= limits.rows_max || i64::try_from(self.bytes()).unwrap_or(i64::MAX) >= limits.bytes_max;
        PageEnd { last_seq: self.rows.last().map(|row| row.seq), is_full }
    }
}

/// What is left of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Survey {
    /// How many rows.
    pub rows: i64,
    /// The first of them.
    pub first_seq: Option<i64>,
    /// The last of them.
    pub last_seq: Option<i64>,
}
