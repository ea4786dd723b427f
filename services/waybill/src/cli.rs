//! The grammar: what can be typed.

use std::path::PathBuf;

use clap::builder::Styles;
use clap::builder::styling::AnsiColor;
use clap::{Args, Parser, Subcommand, ValueEnum};
use waybill_runtime::Role;

use crate::commands;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Yellow.on_default().bold())
    .usage(AnsiColor::Yellow.on_default().bold())
    .literal(AnsiColor::Green.on_default())
    .placeholder(AnsiColor::Cyan.on_default());

const EXAMPLES: &str = "\
Examples:
  waybill up                                    all roles in one process, for a laptop
  waybill run relay reconciler                  two roles in one process
  waybill migrate plan                          what `migrate apply` would do
  waybill topic apply                           make the topics and bind the consumers to them
  waybill doctor                                what is wrong, and what to do about it
  waybill export show exp_…                     an export and its timeline

Exit codes:
  0 done · 1 failed · 2 usage · 3 not found · 4 refused · 5 dependency unavailable

Operator commands call the api: WAYBILL_API_URL and WAYBILL_API_KEY. `run`, `up`, `migrate`, `topic`,
`doctor`, `outbox install`, `outbox rebase` and `api-key create --first` connect to Postgres and Kafka themselves,
as the configuration says. `outbox` and `parked` with --schema and --database-url connect to that outbox.";

/// Where a command's help lists what every command takes.
const GLOBAL: &str = "Global options";

/// Runs exports, from an intent to every downstream.
#[derive(Debug, Parser)]
#[command(
    name = "waybill",
    version,
    styles = STYLES,
    after_help = EXAMPLES,
    disable_help_subcommand = true,
    arg_required_else_help = true,
    max_term_width = 110
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command takes.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// The configuration; without it ./waybill.toml, if there is one
    #[arg(
        long,
        global = true,
        help_heading = GLOBAL,
        value_name = "FILE",
        env = "WAYBILL_CONFIG",
        hide_env_values = true
    )]
    pub(crate) config: Option<PathBuf>,
    /// Answer with one JSON document, and with one on stderr when the command fails
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run one role or several in this process
    Run(commands::run::Run),
    /// Run all roles in this process, for a laptop
    #[command(after_help = commands::up::EXAMPLES)]
    Up,
    /// Bring the databases to this version's schemas
    #[command(subcommand)]
    Migrate(commands::migrate::MigrateCommand),
    /// Make Kafka's topics as schemas/topics.toml declares them
    #[command(subcommand)]
    Topic(commands::topic::TopicCommand),
    /// Outboxes: put one into any database, see how it stands, go on after a restore
    #[command(subcommand)]
    Outbox(commands::outbox::OutboxCommand),
    /// Parked rows of an outbox: those that Kafka did not take
    #[command(subcommand)]
    Parked(commands::parked::ParkedCommand),
    /// Check everything that Waybill needs, and say what to do about each finding
    #[command(after_help = commands::doctor::EXAMPLES)]
    Doctor,
    /// Show the configuration
    #[command(subcommand)]
    Config(commands::config::ConfigCommand),
    /// Tenants: who owns exports
    #[command(subcommand)]
    Tenant(commands::tenant::TenantCommand),
    /// Service accounts: the callers of a tenant
    #[command(subcommand)]
    ServiceAccount(commands::service_account::ServiceAccountCommand),
    /// API keys of a service account
    #[command(subcommand)]
    ApiKey(commands::api_key::ApiKeyCommand),
    /// Data sets: what can be exported
    #[command(subcommand)]
    Dataset(commands::dataset::DatasetCommand),
    /// Exports: ask for one, follow it, fetch its file
    #[command(subcommand)]
    Export(commands::export::ExportCommand),
    /// Objects: the files of exports, and why each is there or not
    #[command(subcommand)]
    Object(commands::object::ObjectCommand),
}

/// A role, as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoleName {
    /// Answers callers over HTTP
    Api,
    /// Sends the outbox to Kafka
    Relay,
    /// Runs exports
    Worker,
    /// Makes exports findable
    Search,
    /// Counts
    Stats,
    /// Sends mail and calls webhooks
    Notifier,
    /// Finds what nothing has moved in time
    Reconciler,
}

impl From<RoleName> for Role {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::Api => Self::Api,
            RoleName::Relay => Self::Relay,
            RoleName::Worker => Self::Worker,
            RoleName::Search => Self::Search,
            RoleName::Stats => Self::Stats,
            RoleName::Notifier => Self::Notifier,
            RoleName::Reconciler => Self::Reconciler,
        }
    }
}

#[cfg(test)]
mod documented;

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, ValueEnum};
    use waybill_runtime::Role;

    use super::{Cli, RoleName};

    #[test]
    fn the_grammar_contradicts_itself_nowhere() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_role_can_be_typed_by_its_name() {
        for name in RoleName::value_variants() {
            let typed = name.to_possible_value().unwrap();
            assert_eq!(typed.get_name(), Role::from(*name).as_str());
        }
        assert_eq!(RoleName::value_variants().len(), Role::ALL.len());
    }
}
