//! Databases, topics, processes and fault scripts for tests on real Kafka and real Postgres.
//!
//! `./dev test` starts a private Postgres and Kafka and says where they are in `WAYBILL_TEST_POSTGRES_URL` and
//! `WAYBILL_TEST_KAFKA_BOOTSTRAP`. Every fixture takes a database or a topic prefix of its own there and drops it when
//! it goes out of scope, so tests run side by side. A wait is always for a signal and always bounded; what is waited
//! for in vain panics with the end of the process's log.
//!
//! Deliberately absent: a stand-in for anything, a sleep, a skip. Without a server a test fails.

mod bounded;
mod broker;
mod bucket;
mod caller;
mod database;
pub mod documents;
mod environment;
mod events;
mod kafka;
mod log;
mod own;
mod plan;
mod postgres;
mod process;
mod proxy;
mod python;
mod schemathesis;
mod settings;
mod store_proxy;
mod system;
mod template;
mod wire;

pub use bounded::{WAIT_MAX, eventually, within};
pub use broker::PrivateBroker;
pub use bucket::Bucket;
pub use caller::{Answer, Caller, id_of};
pub use database::{ROLE_PASSWORD, ROLES, TestDatabase, connect};
pub use environment::{kafka_bootstrap, postgres_url, waybill_binary};
pub use events::{Event, Events};
pub use kafka::{Record, TestTopic, TestTopics, committed_offset, produce, read_to_end};
pub use log::Log;
pub use plan::Plan;
pub use postgres::PrivatePostgres;
pub use process::{Launch, Process, Status};
pub use proxy::{Loss, Proxy};
pub use python::python;
pub use schemathesis::{Fuzzed, Verdict, schemathesis};
pub use settings::Settings;
pub use store_proxy::{StoreProxy, Trouble};
pub use system::{ORDERS, ROWS_OF_TENANT, System, base_url};
pub use wire::{Refusal, Wire};
