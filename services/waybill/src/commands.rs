//! The commands: one module a noun.

pub(crate) mod api_key;
pub(crate) mod config;
pub(crate) mod dataset;
pub(crate) mod decision;
pub(crate) mod doctor;
pub(crate) mod export;
pub(crate) mod migrate;
pub(crate) mod object;
pub(crate) mod outbox;
mod pages;
pub(crate) mod parked;
pub(crate) mod run;
pub(crate) mod service_account;
pub(crate) mod tenant;
mod text;
pub(crate) mod topic;
pub(crate) mod up;

use waybill_runtime::PoolError;

pub(crate) use crate::exit::CommandError;
use crate::exit::Exit;

/// A database that cannot be connected to: away, or never reachable with this configuration.
pub(crate) fn database_refused(error: PoolError) -> CommandError {
    let (exit, hint) = if matches!(error, PoolError::NoAdmin) {
        (Exit::Usage, "set WAYBILL_POSTGRES_URL to the address of the database's owner")
    } else if error.is_dependency() {
        (Exit::Unavailable, "waybill doctor")
    } else {
        (Exit::Usage, "waybill config show")
    };
    CommandError::new(exit, error.code(), error.to_string()).with_source(error).with_hint(hint)
}
