//! What `/metrics` shows of this role.

use waybill_runtime::metrics::{Metric, MetricKind};

/// Requests answered.
pub(crate) const REQUESTS: &str = "waybill_http_requests_total";
/// How long an answer took to begin.
pub(crate) const REQUEST_DURATION: &str = "waybill_http_request_duration_seconds";
/// Exports accepted.
pub(crate) const EXPORTS_ACCEPTED: &str = "waybill_exports_accepted_total";

/// Waits and event streams that are open.
pub(crate) const EXPORTS_WATCHED: &str = "waybill_exports_watched";

/// The metrics of this crate.
pub const METRICS: &[Metric] = &[
    Metric {
        name: REQUESTS,
        kind: MetricKind::Counter,
        help: "HTTP requests answered by the api, by route, method and status.",
        labels: &["route", "method", "status"],
    },
    Metric {
        name: REQUEST_DURATION,
        kind: MetricKind::Histogram,
        help: "Time from a request's head to the head of its answer, by route and method.",
        labels: &["route", "method"],
    },
    Metric {
        name: EXPORTS_ACCEPTED,
        kind: MetricKind::Counter,
        help: "Exports accepted: once an intent, however often it was sent.",
        labels: &[],
    },
    Metric {
        name: EXPORTS_WATCHED,
        kind: MetricKind::Gauge,
        help: "Waits for a change of an export, and event streams, that are open.",
        labels: &[],
    },
];
