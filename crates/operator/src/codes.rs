//! The codes of what is refused about an outbox. Each has its page in `docs/errors`.

/// Fields of what was asked are missing, unknown or out of their bounds.
pub const REQUEST_INVALID: &str = "request-invalid";
/// No such row of the outbox was ever parked.
pub const PARKED_NOT_FOUND: &str = "parked-not-found";
/// The parked row was sent or discarded already.
pub const PARKED_SETTLED: &str = "parked-settled";
/// The parked row waits behind one that is refused.
pub const PARKED_BEHIND: &str = "parked-behind";
/// The outbox has no record of such a topic.
pub const TOPIC_UNRECORDED: &str = "topic-unrecorded";
