//! `waybill outbox rebase`.
use waybill_runtime::Config;

use super::super::CommandError;
use crate::output::Output;

/// How.
#[derive(Debug, clap::Args)]
pub(crate) struct Rebase {
    /// Why, for the record
    #[arg(long)]
    reason: String,
}

pub(super) async fn run(_rebase: &Rebase, _config: &Config, _output: &Output) -> Result<(), CommandError> {
    Ok(())
}
