//! The error codes of the writer's side. Each has its page in `docs/errors/`.

/// A writer handed over an event that Kafka would refuse: its size, a header or its topic's name.
pub const OUTBOX_EVENT_REFUSED: &str = "outbox-event-refused";

/// The database took an event without an error and did not store it.
pub const OUTBOX_ROW_SWALLOWED: &str = "outbox-row-swallowed";
