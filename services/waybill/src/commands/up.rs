//! `waybill up`: all roles in one process, for a laptop.

use waybill_runtime::{Config, Role};

use super::CommandError;

/// What `--help` ends with.
pub(crate) const EXAMPLES: &str = "\
Examples:
  waybill up
  waybill --config ./waybill.toml up
  WAYBILL_TELEMETRY__FILTER=debug waybill up

The log and the end are those of `waybill run`. In production each role runs by itself, as often as its load asks for:
`waybill run worker`.";

/// Runs all roles until a signal.
pub(crate) async fn run(config: Config) -> Result<(), CommandError> {
    super::run::run_roles(Role::ALL, config).await
}
