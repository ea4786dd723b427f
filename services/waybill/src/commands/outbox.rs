//! `waybill outbox`: an outbox in any database, and how the relay stands with it.

mod install;

use super::CommandError;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  waybill outbox install --schema shop_outbox --database-url postgres://owner@db/shop --dry-run
  waybill outbox install --schema shop_outbox --database-url postgres://owner@db/shop \\
      --writer shop --relay waybill_relay

Installing again changes nothing. Writers call shop_outbox.outbox_append(…) or the crate waybill-outbox.";

#[derive(Debug, clap::Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum OutboxCommand {
    /// Put an outbox into a database of any service
    Install(install::Install),
}

/// Installs by a connection of its own: the database may be one that Waybill otherwise knows nothing of.
pub(crate) async fn run(command: OutboxCommand, output: &Output) -> Result<(), CommandError> {
    match command {
        OutboxCommand::Install(install) => install::run(&install, output).await,
    }
}
