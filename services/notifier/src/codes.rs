//! The codes that an operator can see from the notifier; each has its page in `docs/errors/`.

/// An attempt's outcome is not known: it may or may not have reached its target, and is never sent again by itself.
pub const NOTIFICATION_OUTCOME_UNKNOWN: &str = "notification-outcome-unknown";
/// Due notifications wait, for this process has no settings for their channel.
pub const NOTIFICATION_CHANNEL_NOT_CONFIGURED: &str = "notification-channel-not-configured";
/// The mail server could not be reached, or did not let us in.
pub const NOTIFICATION_CHANNEL_UNREACHABLE: &str = "notification-channel-unreachable";
/// The target is no address or URL that the channel can send to.
pub const NOTIFICATION_TARGET_INVALID: &str = "notification-target-invalid";
/// The webhook's host is, or resolves to, an address inside the house.
pub const NOTIFICATION_ADDRESS_REFUSED: &str = "notification-address-refused";
/// The receiver said no, for good.
pub const NOTIFICATION_REJECTED_BY_RECEIVER: &str = "notification-rejected-by-receiver";
/// The attempts failed for passing reasons, more often or for longer than the bounds allow.
pub const NOTIFICATION_ATTEMPTS_EXHAUSTED: &str = "notification-attempts-exhausted";
/// The sender came to its first byte after the attempt's deadline and did not send.
pub const NOTIFICATION_DEADLINE_PASSED: &str = "notification-deadline-passed";
/// The notifier's database cannot be reached.
pub const NOTIFIER_DATABASE_UNAVAILABLE: &str = "notifier-database-unavailable";
/// The settings of the notifier contradict each other or cannot be used.
pub const NOTIFIER_SETTINGS_INVALID: &str = "notifier-settings-invalid";
