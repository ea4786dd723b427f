//! Moves committed outbox rows to Kafka, and marks only what Kafka acknowledged.
