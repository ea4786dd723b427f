//! The role `search` on a real Kafka and a real Postgres.
#![expect(clippy::unwrap_used, reason = "what fails in a fixture fails the test, where it stands")]

mod facts;
#[path = "../../../../crates/subscription/tests/projection/house.rs"]
mod house;
