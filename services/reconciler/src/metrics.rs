//! What the reconciler counts.

use metrics::{counter, gauge};
use waybill_runtime::metrics::{Metric, MetricKind};

use crate::survey::Surveyed;

const OVERDUE: &str = "waybill_reconciler_overdue_jobs_total";
const COMMANDS: &str = "waybill_reconciler_commands_total";
const EXPIRED: &str = "waybill_reconciler_expired_total";
const CONDEMNED: &str = "waybill_collector_condemned_total";
const DELETED: &str = "waybill_collector_deleted_total";
const DELETED_BYTES: &str = "waybill_collector_deleted_bytes_total";
const CONTRADICTIONS: &str = "waybill_collector_contradictions";
const OBJECTS: &str = "waybill_objects";
const OBJECTS_UNKNOWN: &str = "waybill_objects_unknown";
const OBJECTS_RETURNED: &str = "waybill_objects_returned_total";
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
        name: EXPIRED,
        kind: MetricKind::Counter,
        help: "Exports whose result's time was over.",
        labels: &[],
    },
    Metric {
        name: CONDEMNED,
        kind: MetricKind::Counter,
        help: "Candidates condemned because their attempts came to nothing.",
        labels: &[],
    },
    Metric {
        name: DELETED,
        kind: MetricKind::Counter,
        help: "Condemned candidates whose objects were deleted.",
        labels: &[],
    },
    Metric {
        name: DELETED_BYTES,
        kind: MetricKind::Counter,
        help: "Bytes of the deleted objects, where they had been verified.",
        labels: &[],
    },
    Metric {
        name: CONTRADICTIONS,
        kind: MetricKind::Gauge,
        help: "Candidates that are condemned though their rows say that they are needed; none is deleted.",
        labels: &[],
    },
    Metric {
        name: OBJECTS,
        kind: MetricKind::Gauge,
        help: "Objects in the store at the last survey.",
        labels: &[],
    },
    Metric {
        name: OBJECTS_UNKNOWN,
        kind: MetricKind::Gauge,
        help: "Objects older than an hour that no row knew at the last survey; none is deleted.",
        labels: &[],
    },
    Metric {
        name: OBJECTS_RETURNED,
        kind: MetricKind::Counter,
        help: "Objects that were there again after they had been deleted, and were deleted again.",
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

pub(crate) fn expired(exports: usize) {
    counter!(EXPIRED).increment(exports as u64);
}

pub(crate) fn condemned(candidates: usize) {
    counter!(CONDEMNED).increment(candidates as u64);
}

pub(crate) fn deleted(bytes: Option<i64>) {
    counter!(DELETED).increment(1);
    counter!(DELETED_BYTES).increment(bytes.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0));
}

pub(crate) fn contradictions(candidates: usize) {
    gauge!(CONTRADICTIONS).set(u32::try_from(candidates).unwrap_or(u32::MAX));
}

pub(crate) fn surveyed(surveyed: &Surveyed) {
    let bounded = |objects: u64| u32::try_from(objects).unwrap_or(u32::MAX);
    gauge!(OBJECTS).set(bounded(surveyed.objects));
    gauge!(OBJECTS_UNKNOWN).set(bounded(surveyed.unknown));
    counter!(OBJECTS_RETURNED).increment(surveyed.returned);
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
