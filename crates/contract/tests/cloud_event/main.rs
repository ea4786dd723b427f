//! CloudEvents as they lie in Kafka, whoever wrote them.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod conformance;
mod events;
mod fuzz;
mod refusals;
mod round_trip;
