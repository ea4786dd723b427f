//! The HTTP listener that callers see.
//!
//! A request is authenticated against its key's row, bounded in size and time, answered from rows, and bound to the
//! caller's tenant. Deliberately absent: any work on an export (that is the worker's), any Kafka client, and any way
//! to a file but through the row that selected it.

mod app;
mod bearer;
mod catalog;
pub mod codes;
mod conditional;
mod database;
mod error;
mod exports;
mod health;
mod lent;
pub mod metrics;
mod observe;
mod openapi;
mod ops;
mod page;
mod preference;
mod principal;
mod problem;
mod request;
mod router;
mod search;
mod serve;
mod stats;
mod timeline;
mod usage;
mod versioned;
mod watching;

pub use bearer::Bearer;
pub use error::Error;
pub use serve::run;
