//! A transactional outbox: the writer's side and the window reading.
//!
//! A writer calls [`append`] inside of its own transaction and [`wake`] after it committed. A relay reads the committed
//! rows through a durable cursor, a [`window`] between two snapshots. Deliberately absent: Kafka, and everything that
//! knows what an event means. Any service can use this crate, and any language can write the same row through SQL.

mod append;
pub mod codes;
pub mod window;

pub use append::{
    AppendError, CHANNEL, EVENT_BYTES_MAX, Event, HEADER_NAME_BYTES_MAX, HEADERS_MAX, append, record_bytes,
    wake,
};
