//! Databases, topics, processes and fault scripts for tests on real Kafka and real Postgres.
