//! A Kafka partition consumer whose positions live in Postgres beside their effects.
