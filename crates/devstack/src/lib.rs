//! Starts and stops the Kafka, Postgres and mail processes of a developer machine.
//!
//! Everything that a clone runs is recorded under its `.dev/`, bound to loopback and stopped only when the process is
//! still the very one that was started. Whatever an invocation starts belongs to its [`Undertaking`], which takes it
//! back when the invocation is interrupted before it is done.
//!
//! Deliberately absent: system services, containers, and anything that knows what Waybill is.

mod address;
mod cache;
mod credentials;
mod error;
mod identity;
mod kafka;
mod layout;
mod mail;
mod maven;
mod memory;
mod ports;
mod postgres;
mod program;
mod ready;
mod service;
mod undertaking;
mod unprivileged;

pub use address::{on_database, without_user};
pub use cache::cache_dir;
pub use credentials::Credentials;
pub use error::DevstackError;
pub use kafka::Kafka;
pub use layout::Layout;
pub use mail::{Mail, ReceivedMail};
pub use maven::{Jars, fetch};
pub use ports::Ports;
pub use postgres::{Durability, Postgres};
pub use program::{find_java, find_postgres};
pub use ready::{READY_MAX, http_get, wait_ready};
pub use service::{Running, ServiceFile, Stopped};
pub use undertaking::Undertaking;
