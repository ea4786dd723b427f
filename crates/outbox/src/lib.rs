//! A transactional outbox: the writer's side and the window reading.
//!
//! A writer calls [`Outbox::append`] inside of its own transaction and [`wake`] after it committed. A relay reads the
//! committed rows through a durable cursor, a [`window`] between two snapshots. [`upkeep`] makes partitions ahead and drops
//! what was relayed. Deliberately absent: Kafka, and everything that knows what an event means. Any service can use this
//! crate, with tokio-postgres or, with the feature `sqlx`, with that; any other language calls `outbox_append` in SQL.

mod append;
pub mod codes;
pub mod decisions;
pub mod hold;
mod outbox;
pub mod parked;
pub mod rebase;
mod schema_name;
pub mod status;
pub mod upkeep;
pub mod window;

pub use append::{
    AppendError, CHANNEL, EVENT_BYTES_MAX, Event, HEADER_NAME_BYTES_MAX, HEADERS_MAX, append, record_bytes,
    wake,
};
pub use outbox::Outbox;
pub use schema_name::{SCHEMA_NAME_BYTES_MAX, SchemaName, SchemaNameError};
