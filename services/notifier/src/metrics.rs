//! What the notifier counts. Tenants and targets are never labels.

use waybill_runtime::metrics::{Metric, MetricKind};

/// Attempts that came to an end.
pub(crate) const ATTEMPTS: Metric = Metric {
    name: "waybill_notification_attempts_total",
    kind: MetricKind::Counter,
    help: "Attempts to send a notification, by channel and outcome.",
    labels: &["channel", "outcome"],
};
/// How long attempts take.
pub(crate) const ATTEMPT_SECONDS: Metric = Metric {
    name: "waybill_notification_attempt_duration_seconds",
    kind: MetricKind::Histogram,
    help: "Time from taking a notification to its outcome, by channel.",
    labels: &["channel"],
};
/// Notifications by where they stand.
pub(crate) const NOTIFICATIONS: Metric = Metric {
    name: "waybill_notifications",
    kind: MetricKind::Gauge,
    help: "Notifications that are pending, sending or unknown.",
    labels: &["state"],
};
/// What waits for settings.
pub(crate) const WITHOUT_CHANNEL: Metric = Metric {
    name: "waybill_notifications_without_channel",
    kind: MetricKind::Gauge,
    help: "Due notifications that this process cannot send because it has no settings for their channel.",
    labels: &["channel"],
};
/// The age of the backlog.
pub(crate) const OLDEST_PENDING_SECONDS: Metric = Metric {
    name: "waybill_notification_oldest_pending_seconds",
    kind: MetricKind::Gauge,
    help: "How long the most overdue pending notification has been due; 0 when none is.",
    labels: &[],
};

/// Every metric of this crate.
pub const METRICS: &[Metric] =
    &[ATTEMPTS, ATTEMPT_SECONDS, NOTIFICATIONS, WITHOUT_CHANNEL, OLDEST_PENDING_SECONDS];
