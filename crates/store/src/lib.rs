//! The Postgres statements of Waybill: one module a noun, one `.sql` file a statement.
//!
//! Every function takes an executor, so that the service that calls it owns the transaction. Deliberately absent:
//! connections, pools, retries and Kafka.

pub mod api_key;
pub mod attempt;
pub mod candidate;
pub mod claim;
pub mod collection;
pub mod command;
pub mod counter;
pub mod dataset;
pub mod decision;
pub mod document;
pub mod expiry;
pub mod fact;
pub mod generation;
pub mod intent;
pub mod job;
pub mod listing;
pub mod migrations;
pub mod notification;
pub mod overdue;
mod passing;
pub mod quarantine;
pub mod quota;
pub mod service_account;
pub mod tenant;
pub mod timeline;
pub mod watched;

pub use passing::{is_away, is_passing};

/// Why a statement of this crate did not give what was asked of it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Postgres refused the statement or the connection was lost.
    #[error("postgres")]
    Postgres(#[from] tokio_postgres::Error),
    /// A stored value is none that this version of Waybill knows.
    #[error("column {column} holds a value that this version does not know: {detail}")]
    Decode {
        /// The column, as `table.column`.
        column: &'static str,
        /// The value or what is wrong with it.
        detail: String,
    },
}
