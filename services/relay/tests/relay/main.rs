//! The relay and its window on a real Postgres and a real Kafka.

mod counter_examples;
mod delivery;
mod first_batch;
mod fixtures;
mod horizon;
mod identity;
mod inflow;
mod lifecycles;
mod oldest;
mod operator_plans;
mod outage;
mod parking;
mod parking_statements;
mod pipeline;
mod plans;
mod rebase;
mod refusal;
mod several;
mod takeover;
mod topics;
mod topics_brokers;
mod window;
