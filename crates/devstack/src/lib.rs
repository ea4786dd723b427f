//! Starts and stops the Kafka, Postgres and mail processes of a developer machine.
