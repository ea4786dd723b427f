//! The relay and its window on a real Postgres and a real Kafka.

mod counter_examples;
mod delivery;
mod fixtures;
mod identity;
mod outage;
mod plans;
mod refusal;
mod takeover;
mod window;
