//! What the relay measures.

use std::sync::Arc;

use waybill_runtime::metrics::{Metric, MetricKind};

const fn counter(name: &'static str, help: &'static str) -> Metric {
    Metric { name, kind: MetricKind::Counter, help, labels: &["outbox"] }
}

const fn gauge(name: &'static str, help: &'static str) -> Metric {
    Metric { name, kind: MetricKind::Gauge, help, labels: &["outbox"] }
}

/// Adds to an outbox's counter.
pub(crate) fn count(metric: &Metric, outbox: &Arc<str>, more: u64) {
    ::metrics::counter!(metric.name, "outbox" => Arc::clone(outbox)).increment(more);
}

/// Sets an outbox's gauge.
pub(crate) fn set(metric: &Metric, outbox: &Arc<str>, value: f64) {
    ::metrics::gauge!(metric.name, "outbox" => Arc::clone(outbox)).set(value);
}

/// Sets an outbox's gauge that has a second label.
pub(crate) fn set_of(metric: &Metric, outbox: &Arc<str>, label: (&'static str, &'static str), value: f64) {
    ::metrics::gauge!(metric.name, "outbox" => Arc::clone(outbox), label.0 => label.1).set(value);
}

/// Rows that the cursor passed.
pub(crate) const ROWS: Metric =
    counter("waybill_relay_rows_total", "Outbox rows that Kafka acknowledged and the cursor passed.");
/// Bytes that were handed to the producer.
pub(crate) const BYTES: Metric = counter(
    "waybill_relay_sent_bytes_total",
    "Keys, headers and payloads handed to the producer, repetitions included, before compression.",
);
/// Moves of the cursor.
pub(crate) const BATCHES: Metric =
    counter("waybill_relay_batches_total", "Moves of the outbox cursor over acknowledged rows.");
/// Deliveries that failed.
pub(crate) const FAILURES: Metric = counter(
    "waybill_relay_delivery_failures_total",
    "Times that a producer was discarded because a delivery failed.",
);
/// The age of what waits longest.
pub(crate) const OLDEST_AGE: Metric = gauge(
    "waybill_relay_oldest_unsent_age_seconds",
    "Age of the oldest committed row that the cursor has not passed, whether it can be sent or not, looked up every `observe_interval_ms` by the active relay; 0 when none waits, NaN where this relay knows nothing: it stands by, or has not looked yet. While it cannot look, or the outbox is halted, this is the last that it knows: it grows from what was seen last, or from the last move of the cursor after that. Another relay that has taken over meanwhile knows better.",
);
/// Rows on their way.
pub(crate) const IN_FLIGHT_ROWS: Metric = gauge(
    "waybill_relay_in_flight_rows",
    "Rows that were handed to the producer and are not yet behind the cursor.",
);
/// Bytes on their way.
pub(crate) const IN_FLIGHT_BYTES: Metric =
    gauge("waybill_relay_in_flight_bytes", "Bytes of the rows that are in flight.");
/// Whether this relay holds the lease.
pub(crate) const ACTIVE: Metric =
    gauge("waybill_relay_active", "1 while this relay holds the outbox's lease, 0 while it stands by.");
/// The fence of the lease.
pub(crate) const FENCE: Metric =
    gauge("waybill_relay_fence", "The fence under which this relay was active last.");

/// What is held.
pub(crate) const HOLDS: Metric = Metric {
    name: "waybill_relay_holds",
    kind: MetricKind::Gauge,
    help: "Open holds: single rows, keys and whole topics whose rows wait though the cursor has passed them.",
    labels: &["outbox", "scope"],
};
/// What waits under holds.
pub(crate) const PARKED_ROWS: Metric = Metric {
    name: "waybill_relay_parked_rows",
    kind: MetricKind::Gauge,
    help: "Parked rows that Kafka refused, and those that wait behind them or for their topic; counted up to 100,000.",
    labels: &["outbox", "state"],
};

/// Rows before the cursor.
pub(crate) const WAITING_ROWS: Metric = gauge(
    "waybill_relay_waiting_rows",
    "Committed rows that the cursor has not passed, counted up to 100,000 by the active relay every third time it looks.",
);
/// Bytes before the cursor.
pub(crate) const WAITING_BYTES: Metric = gauge(
    "waybill_relay_waiting_bytes",
    "What those rows take on disk, estimated from the table's average row.",
);
/// How large the window is.
pub(crate) const WINDOW_TRANSACTIONS: Metric = gauge(
    "waybill_relay_window_transactions",
    "Transaction ids between the two snapshots of the open window; 0 when it is drained.",
);
/// How long somebody holds back cleaning.
pub(crate) const CLEANING_HELD_BACK: Metric = gauge(
    "waybill_relay_cleaning_held_back_seconds",
    "How long the same transaction has held back cleaning in the outbox's database; above 300 somebody should end it.",
);

/// Everything that the relay measures.
pub const METRICS: &[Metric] = &[
    ROWS,
    BYTES,
    BATCHES,
    FAILURES,
    OLDEST_AGE,
    IN_FLIGHT_ROWS,
    IN_FLIGHT_BYTES,
    ACTIVE,
    FENCE,
    HOLDS,
    PARKED_ROWS,
    WAITING_ROWS,
    WAITING_BYTES,
    WINDOW_TRANSACTIONS,
    CLEANING_HELD_BACK,
];
