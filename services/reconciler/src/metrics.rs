//! What the reconciler counts.

use metrics::{counter, gauge};
use waybill_runtime::metrics::{Metric, MetricKind};

const OVERDUE: &str = "waybill_reconciler_overdue_jobs_total";
const COMMANDS: &str = "waybill_reconciler_commands_total";
const PARTITIONS_AHEAD: &str = "waybill_outbox_partitions_ahead_days";
const PARTITIONS_DROPPED: &str = "waybill_outbox_partitions_dropped_total";
const PARTITIONS_KEPT: &str = "waybill_outbox_partitions_kept";
const PARKED_FORGOTTEN: &str = "waybill_outbox_parked_forgotten_total";

/// Every metric of the reconciler.
pub const METRICS: &[Metric] = &[
    Metric {
        name: OVERDUE,
        kind: MetricKind::Counter,
        help: "Jobs found that nothing had moved in time; one job counts at every reminder.",
        labels: &[],
    },
    Metric {
        name: COMMANDS,
        kind: MetricKind::Counter,
        help: "Commands written again and committed.",
        labels: &[],
    },
    Metric {
        name: PARTITIONS_AHEAD,
        kind: MetricKind::Gauge,
        help: "Days after today for which the outbox has partitions, without a gap.",
        labels: &["outbox"],
    },
    Metric {
        name: PARTITIONS_DROPPED,
        kind: MetricKind::Counter,
        help: "Partitions dropped because their every row was relayed long ago.",
        labels: &["outbox"],
    },
    Metric {
        name: PARTITIONS_KEPT,
        kind: MetricKind::Gauge,
        help: "Partitions that are old enough to go and hold a row that was not relayed.",
        labels: &["outbox"],
    },
    Metric {
        name: PARKED_FORGOTTEN,
        kind: MetricKind::Counter,
        help: "Parked rows deleted because they were sent long ago.",
        labels: &["outbox"],
    },
];

pub(crate) fn overdue(jobs: usize) {
    counter!(OVERDUE).increment(jobs as u64);
}

pub(crate) fn commands(written: usize) {
    counter!(COMMANDS).increment(written as u64);
}

pub(crate) fn partitions_ahead(outbox: &str, days: i64) {
    gauge!(PARTITIONS_AHEAD, "outbox" => outbox.to_owned()).set(i32::try_from(days).unwrap_or(i32::MAX));
}

pub(crate) fn partition_dropped(outbox: &str) {
    counter!(PARTITIONS_DROPPED, "outbox" => outbox.to_owned()).increment(1);
}

pub(crate) fn partitions_kept(outbox: &str, partitions: i32) {
    gauge!(PARTITIONS_KEPT, "outbox" => outbox.to_owned()).set(partitions);
}

pub(crate) fn parked_forgotten(outbox: &str, rows: i32) {
    counter!(PARKED_FORGOTTEN, "outbox" => outbox.to_owned()).increment(u64::try_from(rows).unwrap_or(0));
}
