//! What every Waybill process stands on: configuration, log, health, metrics, connections, and an orderly end.
//!
//! Deliberately absent: anything that knows what an export is.

mod chain;
pub mod codes;
pub mod config;
mod context;
pub mod health;
pub mod management;
pub mod metrics;
pub mod pool;
mod role;
mod role_error;
mod secret;
pub mod shutdown;
mod sources;
pub mod telemetry;

pub use chain::{causes, chain};
pub use config::Config;
pub use context::{Context, connect_as_admin};
pub use health::Health;
pub use pool::{CopyOut, Dedicated, PoolError, SourceConnection};
pub use role::{Role, Schema};
pub use role_error::RoleError;
pub use secret::Secret;
pub use sources::Sources;
