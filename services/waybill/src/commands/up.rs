//! `waybill up`: all roles in one process, for a laptop.

use waybill_runtime::{Config, Role};

use super::CommandError;

/// Runs all roles until a signal.
pub(crate) async fn run(config: Config) -> Result<(), CommandError> {
    super::run::run_roles(Role::ALL, config).await
}
