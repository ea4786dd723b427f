//! What a consumer counts. Listed for the catalogue of the process that runs it; this crate names no exporter.

use metrics::{Counter, Gauge, Histogram};

/// Records whose effect, or whose parking, was committed.
pub(crate) const RECORDS: &str = "waybill_consumer_records_total";
/// Transactions that were committed.
pub(crate) const BATCHES: &str = "waybill_consumer_batches_total";
/// Records that were parked.
pub(crate) const PARKED: &str = "waybill_consumer_parked_records_total";
/// Events whose key the inbox held already.
pub(crate) const DUPLICATES: &str = "waybill_consumer_duplicates_total";
/// Batches that were dropped because another holder has the partition.
pub(crate) const FENCED: &str = "waybill_consumer_fenced_total";
/// Transactions that failed and were rolled back.
pub(crate) const FAILURES: &str = "waybill_consumer_batch_failures_total";
/// How long a transaction took.
pub(crate) const BATCH_SECONDS: &str = "waybill_consumer_batch_seconds";
/// Records between the stored position and the end of the partition.
pub(crate) const LAG: &str = "waybill_consumer_lag_records";
/// Partitions that are assigned here and halted.
pub(crate) const HALTED: &str = "waybill_consumer_halted_partitions";

/// Every metric: name, kind, help, labels.
pub const METRICS: &[(&str, &str, &str, &[&str])] = &[
    (RECORDS, "counter", "Records whose effect or parking was committed.", &["consumer_group", "topic"]),
    (BATCHES, "counter", "Batches that were committed.", &["consumer_group", "topic"]),
    (PARKED, "counter", "Records that were parked.", &["consumer_group", "topic"]),
    (DUPLICATES, "counter", "Events whose effect had been had before.", &["consumer_group", "topic"]),
    (
        FENCED,
        "counter",
        "Batches dropped because another holder has the partition.",
        &["consumer_group", "topic"],
    ),
    (FAILURES, "counter", "Batches that failed and were rolled back.", &["consumer_group", "topic"]),
    (BATCH_SECONDS, "histogram", "Seconds from a batch's begin to its commit.", &["consumer_group", "topic"]),
    (
        LAG,
        "gauge",
        "Records between the stored position and the end of the partition.",
        &["consumer_group", "topic", "partition"],
    ),
    (HALTED, "gauge", "Assigned partitions that are halted.", &["consumer_group", "topic"]),
];

/// The metrics of one consumer, with its labels.
pub(crate) struct Meter {
    group: String,
    topic: String,
    pub(crate) records: Counter,
    pub(crate) batches: Counter,
    pub(crate) parked: Counter,
    pub(crate) duplicates: Counter,
    pub(crate) fenced: Counter,
    pub(crate) failures: Counter,
    pub(crate) batch_seconds: Histogram,
    pub(crate) halted: Gauge,
}

impl Meter {
    pub(crate) fn new(group: &str, topic: &str) -> Self {
        let labels = [("consumer_group", group.to_owned()), ("topic", topic.to_owned())];
        Self {
            records: metrics::counter!(RECORDS, &labels),
            batches: metrics::counter!(BATCHES, &labels),
            parked: metrics::counter!(PARKED, &labels),
            duplicates: metrics::counter!(DUPLICATES, &labels),
            fenced: metrics::counter!(FENCED, &labels),
            failures: metrics::counter!(FAILURES, &labels),
            batch_seconds: metrics::histogram!(BATCH_SECONDS, &labels),
            halted: metrics::gauge!(HALTED, &labels),
            group: group.to_owned(),
            topic: topic.to_owned(),
        }
    }

    pub(crate) fn lag(&self, partition: i32) -> Gauge {
        metrics::gauge!(
            LAG,
            "consumer_group" => self.group.clone(),
            "topic" => self.topic.clone(),
            "partition" => partition.to_string(),
        )
    }
}
