//! `waybill outbox`: an outbox in any database, and how the relay stands with it.

mod accept_topic;
pub(super) mod direct;
mod install;
pub(super) mod reach;
mod rebase;
mod status;

use waybill_runtime::Config;

use super::CommandError;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  waybill outbox install --schema shop_outbox --database-url postgres://owner@db/shop --dry-run
  waybill outbox install --schema shop_outbox --database-url postgres://owner@db/shop \\
      --writer shop --relay waybill_relay --operator shop_ops
  waybill outbox status
  waybill outbox status --schema shop_outbox --database-url postgres://shop_ops@db/shop
  waybill outbox rebase --dry-run --reason 'restored to 03:00'
  waybill outbox accept-topic shop.orders --topic-id … --reason 'made again on purpose'

Installing again changes nothing. Writers call shop_outbox.outbox_append(…) or the crate waybill-outbox.";

#[derive(Debug, clap::Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum OutboxCommand {
    /// Put an outbox into a database of any service
    Install(install::Install),
    /// Show who relays an outbox, what waits and what is held
    Status(reach::Place),
    /// Go on after a restore or a failover; says with --dry-run what would be sent again
    Rebase(rebase::Rebase),
    /// Let a topic that was deleted and made again be sent to
    AcceptTopic(accept_topic::AcceptTopic),
}

/// The api is asked about the product's own outbox alone. Installing and rebasing need the owner's login.
pub(crate) async fn run(
    command: OutboxCommand,
    config: impl FnOnce() -> Result<Config, CommandError>,
    output: &Output,
) -> Result<(), CommandError> {
    match command {
        OutboxCommand::Install(install) => install::run(&install, output).await,
        OutboxCommand::Status(place) => status::run(&place, output).await,
        OutboxCommand::Rebase(rebase) => rebase::run(&rebase, config, output).await,
        OutboxCommand::AcceptTopic(accept) => accept_topic::run(&accept, output).await,
    }
}
