//! What the reconciler counts.

use metrics::{counter, gauge};
use waybill_runtime::metrics::{Metric, MetricKind};

const OVERDUE: &str = "waybill_reconciler_overdue_jobs_total";
const COMMANDS: &str = "waybill_reconciler_commands_total";
const PARTITIONS_AHEAD: &str = "waybill_outbox_partitions_ahead_days";

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
        labels: &[],
    },
];

pub(crate) fn overdue(jobs: usize) {
    counter!(OVERDUE).increment(jobs as u64);
}

pub(crate) fn commands(written: usize) {
    counter!(COMMANDS).increment(written as u64);
}

pub(crate) fn partitions_ahead(days: i64) {
    gauge!(PARTITIONS_AHEAD).set(i32::try_from(days).unwrap_or(i32::MAX));
}
