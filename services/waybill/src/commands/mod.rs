//! The commands: one module a noun.

pub(crate) mod api_key;
pub(crate) mod config;
pub(crate) mod dataset;
pub(crate) mod doctor;
pub(crate) mod export;
pub(crate) mod migrate;
pub(crate) mod run;
pub(crate) mod service_account;
pub(crate) mod tenant;
pub(crate) mod topic;
pub(crate) mod up;

pub(crate) use crate::exit::CommandError;
