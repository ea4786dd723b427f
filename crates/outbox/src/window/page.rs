//! The rows of a window, page by page.

use std::time::Duration;

/// The bounds of one page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLimits {
    /// At most so many rows.
    pub rows_max: i64,
    /// No further row once the page holds so many bytes; a single row may be larger.
    pub bytes_max: i64,
}

/// One event as it is to be sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// Its place in the order.
    pub seq: i64,
    /// The Kafka topic.
    pub topic: String,
    /// The record's key.
    pub key: Option<Vec<u8>>,
    /// The record's headers.
    pub headers: Vec<(String, Option<Vec<u8>>)>,
    /// The record's value.
    pub payload: Option<Vec<u8>>,
    /// How long before the read its transaction began, by the database's clock.
    pub age: Duration,
    /// Key, headers and payload in bytes, as the page's bound counts them.
    pub bytes: u64,
}

/// Rows in ascending `seq`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// The rows.
    pub rows: Vec<Row>,
}

impl Page {
    /// Whether one of the bounds ended the page, so that more rows may follow.
    pub fn is_full(&self, limits: PageLimits) -> bool {
        let bytes: u64 = self.rows.iter().map(|row| row.bytes).sum();
        let rows = i64::try_from(self.rows.len()).unwrap_or(i64::MAX);
        rows >= limits.rows_max || i64::try_from(bytes).unwrap_or(i64::MAX) >= limits.bytes_max
    }
}

/// What is left of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Survey {
    /// How many rows.
    pub rows: i64,
    /// The last of them.
    pub last_seq: Option<i64>,
}

impl TryFrom<&tokio_postgres::Row> for Row {
    type Error = tokio_postgres::Error;

    fn try_from(row: &tokio_postgres::Row) -> Result<Self, Self::Error> {
        let names: Vec<String> = row.try_get("header_names")?;
        let values: Vec<Option<Vec<u8>>> = row.try_get("header_values")?;
        let age_seconds: f64 = row.try_get("age_seconds")?;
        let bytes: i64 = row.try_get("bytes")?;
        Ok(Self {
            seq: row.try_get("seq")?,
            topic: row.try_get("topic")?,
            key: row.try_get("key")?,
            headers: names.into_iter().zip(values).collect(),
            payload: row.try_get("payload")?,
            age: Duration::try_from_secs_f64(age_seconds).unwrap_or_default(),
            bytes: bytes.unsigned_abs(),
        })
    }
}
