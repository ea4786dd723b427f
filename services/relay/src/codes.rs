//! The error codes of the relay. Each has its page in `docs/errors/`.

/// Kafka does not acknowledge what the relay sends.
pub const RELAY_DELIVERY_FAILING: &str = "relay-delivery-failing";
/// Kafka refuses one row though it was sent alone: it is parked, and its key waits behind it.
pub const RELAY_ROW_REFUSED: &str = "relay-row-refused";
/// Refused rows are parked and wait for a person's decision.
pub const RELAY_ROW_PARKED: &str = "relay-row-parked";
/// As much is held as can be: nothing more is parked, and the relay waits at the row instead.
pub const RELAY_HOLDS_FULL: &str = "relay-holds-full";
/// Kafka has no topic of that name: its rows are held.
pub const RELAY_TOPIC_MISSING: &str = "relay-topic-missing";
/// A topic was deleted and made again: its rows are held until a person agrees to the new one.
pub const RELAY_TOPIC_RECREATED: &str = "relay-topic-recreated";
/// The relay may not write to a topic: its rows are held.
pub const RELAY_TOPIC_UNAUTHORISED: &str = "relay-topic-unauthorised";
/// Kafka lets nobody write to a topic of that name: its rows are held.
pub const RELAY_TOPIC_FORBIDDEN: &str = "relay-topic-forbidden";
/// A topic takes nothing while others do: its rows are held.
pub const RELAY_TOPIC_STALLED: &str = "relay-topic-stalled";
/// The outbox's database does not answer the relay.
pub const RELAY_DATABASE_FAILING: &str = "relay-database-failing";
/// The database has no outbox in the configured schema.
pub const RELAY_OUTBOX_MISSING: &str = "relay-outbox-missing";
/// The outbox has a structure of another version than this relay knows.
pub const RELAY_OUTBOX_VERSION_UNKNOWN: &str = "relay-outbox-version-unknown";
/// The outbox's database was restored, or another server took its place: its cursor means nothing there.
pub const RELAY_DATABASE_CHANGED: &str = "relay-database-changed";
/// Another relay has taken over; this one stands by.
pub const RELAY_FENCED: &str = "relay-fenced";
/// The lease could not be renewed in time; this relay stopped sending and stands by.
pub const RELAY_LEASE_LATE: &str = "relay-lease-late";
/// The task that relays an outbox ended with a panic.
pub const RELAY_TASK_LOST: &str = "relay-task-lost";
/// A producer cannot be made of the configured settings.
pub const RELAY_PRODUCER_SETTINGS: &str = "relay-producer-settings";
/// Rows wait, and the cursor has not moved for long.
pub const RELAY_CURSOR_STANDING: &str = "relay-cursor-standing";
/// Somebody's transaction keeps Postgres from cleaning the outbox's database.
pub const RELAY_CLEANING_HELD_BACK: &str = "relay-cleaning-held-back";
