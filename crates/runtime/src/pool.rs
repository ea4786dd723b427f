//! Connections to Postgres.
//!
//! A pool hands out nothing that it has not looked at: none of deadpool's own recycling methods notices a `BEGIN` that
//! was left open, and none notices that a failover has made the server read-only. Deliberately absent: retries, which
//! belong to whoever knows whether the work may be repeated.

mod address;
mod copy_out;
mod dedicated;
mod error;
mod handover;
mod observed;
mod sorted;
mod sound;
mod source;
mod tls;

pub use address::Address;
pub use copy_out::CopyOut;
pub use dedicated::Dedicated;
pub use error::PoolError;
pub(crate) use observed::observe;
pub use source::SourceConnection;
