//! The codes by which an operator sees this crate. Each is a page in `docs/errors/`.

/// No stored position, and the group is not bound to the topic: where to begin would be a guess.
pub const TOPIC_UNBOUND: &str = "consumer-topic-unbound";
/// The stored position is below the log's start or above its end.
pub const POSITION_OUT_OF_RANGE: &str = "consumer-position-out-of-range";
/// The topic of that name has another id than the one whose positions are stored.
pub const TOPIC_RECREATED: &str = "consumer-topic-recreated";
/// Kafka knows no topic of that name.
pub const TOPIC_MISSING: &str = "consumer-topic-missing";
/// librdkafka does not take the settings of the group, or two of its bounds contradict each other.
pub const CONSUMER_SETTINGS: &str = "consumer-settings";
/// Kafka does not answer what a partition needs before it starts.
pub const KAFKA_UNAVAILABLE: &str = "consumer-kafka-unavailable";
/// Postgres does not answer; batches and positions wait.
pub const POSTGRES_UNAVAILABLE: &str = "consumer-postgres-unavailable";
/// A batch fails for a reason that another try may not cure.
pub const BATCH_FAILING: &str = "consumer-batch-failing";
/// A record cannot be read yet, and its partition waits for what it lacks.
pub const RECORD_WAITING: &str = "consumer-record-waiting";
/// The position has reached the offset at which it was told to stop.
pub const POSITION_STOPPED: &str = "consumer-position-stopped";
/// A stretch of the log does not match its checksum: it is fetched again, never skipped.
pub const LOG_CORRUPT: &str = "consumer-log-corrupt";
/// Parked: a header's name is not UTF-8.
pub const HEADER_NAME_NOT_UTF8: &str = "header-name-not-utf8";
/// Parked: Postgres refuses this one record's effect, again and again, for its values.
pub const EFFECT_REJECTED: &str = "effect-rejected";
/// Parked: its event key stands for an event that says something else.
pub const IDENTITY_COLLISION: &str = "identity-collision";
