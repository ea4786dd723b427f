//! One step of a timeline.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

/// Something that happened to an export, or that has not happened yet.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Step {
    /// What happens in it, as a slug.
    pub(super) step: &'static str,
    /// When it happened, by the clock of the database that recorded it. Absent: not yet.
    pub(super) at: Option<Timestamp>,
    /// Time since the step that this one follows, in milliseconds. Negative where what follows was recorded first:
    /// the relay notes Kafka's acknowledgement a little after Kafka has the record, and a consumer may be faster.
    pub(super) since_previous_ms: Option<f64>,
    /// Time since the export was accepted, in milliseconds.
    pub(super) since_accepted_ms: Option<f64>,
    /// What is known beyond the time.
    #[serde(flatten)]
    pub(super) details: Map<String, Value>,
}

impl Step {
    /// A step of this name that follows what happened at `previous`.
    pub(super) fn new(
        step: &'static str,
        at: Option<Timestamp>,
        previous: Option<Timestamp>,
        accepted: Timestamp,
    ) -> Self {
        Self {
            step,
            at,
            since_previous_ms: at.zip(previous).map(|(at, previous)| milliseconds(previous, at)),
            since_accepted_ms: at.map(|at| milliseconds(accepted, at)),
            details: Map::new(),
        }
    }

    /// The same with one more detail.
    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }
}

/// Postgres counts microseconds, so nothing is lost within a few centuries.
fn milliseconds(from: Timestamp, to: Timestamp) -> f64 {
    let microseconds = to.as_microsecond() - from.as_microsecond();
    #[expect(clippy::cast_precision_loss, reason = "2^52 microseconds are 142 years")]
    let milliseconds = microseconds as f64 / 1e3;
    milliseconds
}
