//! The error codes of the relay. Each has its page in `docs/errors/`.

/// Kafka does not acknowledge what the relay sends.
pub const RELAY_DELIVERY_FAILING: &str = "relay-delivery-failing";
/// Kafka refuses one row though it was sent alone; everything after it waits.
pub const RELAY_ROW_REFUSED: &str = "relay-row-refused";
/// The outbox's database does not answer the relay.
pub const RELAY_DATABASE_FAILING: &str = "relay-database-failing";
/// The database has no outbox of the configured name.
pub const RELAY_OUTBOX_MISSING: &str = "relay-outbox-missing";
/// The outbox's database was restored, or another server took its place: its cursor means nothing there.
pub const RELAY_DATABASE_CHANGED: &str = "relay-database-changed";
/// Another relay has taken over; this one stands by.
pub const RELAY_FENCED: &str = "relay-fenced";
/// The lease could not be renewed in time; this relay stopped sending and stands by.
pub const RELAY_LEASE_LATE: &str = "relay-lease-late";
/// A producer cannot be made of the configured settings.
pub const RELAY_PRODUCER_SETTINGS: &str = "relay-producer-settings";
