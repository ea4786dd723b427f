//! What the worker counts.

use metrics::{counter, gauge};
use waybill_runtime::metrics::{Metric, MetricKind};
use waybill_store::candidate::Verified;

const CLAIMS: &str = "waybill_worker_claims_total";
const QUARANTINED: &str = "waybill_worker_quarantined_total";
const ATTEMPTS: &str = "waybill_worker_attempts_total";
const LEASE_RENEWALS: &str = "waybill_worker_lease_renewals_total";
const ROWS: &str = "waybill_worker_rows_total";
const BYTES: &str = "waybill_worker_bytes_total";
const RUNNING: &str = "waybill_worker_running_attempts";

/// Every metric of the worker.
pub const METRICS: &[Metric] = &[
    Metric { name: CLAIMS, kind: MetricKind::Counter, help: "Jobs claimed.", labels: &[] },
    Metric {
        name: QUARANTINED,
        kind: MetricKind::Counter,
        help: "Jobs that lost their leases too often and wait for a person.",
        labels: &[],
    },
    Metric {
        name: ATTEMPTS,
        kind: MetricKind::Counter,
        help: "Attempts ended: succeeded, failed, failed_transiently, fenced, unrecorded.",
        labels: &["outcome"],
    },
    Metric { name: LEASE_RENEWALS, kind: MetricKind::Counter, help: "Leases renewed.", labels: &[] },
    Metric { name: ROWS, kind: MetricKind::Counter, help: "Rows in verified candidates.", labels: &[] },
    Metric { name: BYTES, kind: MetricKind::Counter, help: "Bytes in verified candidates.", labels: &[] },
    Metric { name: RUNNING, kind: MetricKind::Gauge, help: "Attempts running in this process.", labels: &[] },
];

/// How an attempt ended, as far as this worker knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Its candidate is the result.
    Succeeded,
    /// It failed and another try cannot help.
    Failed,
    /// It failed for a reason that may pass.
    FailedTransiently,
    /// Another generation, or an end, came in between.
    Fenced,
    /// Its end could not be written.
    Unrecorded,
}

impl Outcome {
    fn label(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::FailedTransiently => "failed_transiently",
            Self::Fenced => "fenced",
            Self::Unrecorded => "unrecorded",
        }
    }
}

pub(crate) fn claimed() {
    counter!(CLAIMS).increment(1);
}

pub(crate) fn quarantined() {
    counter!(QUARANTINED).increment(1);
}

pub(crate) fn ended(outcome: Outcome) {
    counter!(ATTEMPTS, "outcome" => outcome.label()).increment(1);
}

pub(crate) fn lease_renewed() {
    counter!(LEASE_RENEWALS).increment(1);
}

pub(crate) fn verified(file: &Verified) {
    counter!(ROWS).increment(u64::try_from(file.rows).unwrap_or(0));
    counter!(BYTES).increment(u64::try_from(file.bytes).unwrap_or(0));
}

pub(crate) fn running(attempts: usize) {
    gauge!(RUNNING).set(u32::try_from(attempts).unwrap_or(u32::MAX));
}
