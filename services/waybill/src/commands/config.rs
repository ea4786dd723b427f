//! `waybill config`: what can be configured, and what is.

use waybill_runtime::Config;
use waybill_runtime::config::{ConfigError, DEFAULT_TOML};

use super::CommandError;
use crate::exit::Exit;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  waybill config default > waybill.toml     every key with its default, to start from
  waybill config show                       what is in effect, secrets redacted
  WAYBILL_WORKER__SLOTS=4 waybill config show --json";

#[derive(Debug, clap::Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum ConfigCommand {
    /// Print the compiled-in defaults as a commented file
    Default,
    /// Print the configuration in effect, secrets redacted
    Show,
}

/// Prints. The configuration is only loaded where it is shown: a broken one must not hide the defaults.
pub(crate) fn run(
    command: &ConfigCommand,
    load: impl FnOnce() -> Result<Config, CommandError>,
    output: Output,
) -> Result<(), CommandError> {
    match command {
        ConfigCommand::Default if output.json => output.json(&Config::default()),
        ConfigCommand::Default => output.text(DEFAULT_TOML),
        ConfigCommand::Show => output.answer(&load()?, text),
    }
}

/// The configuration as TOML. What has no value is left out.
fn text(config: &Config) -> String {
    toml::to_string(config).unwrap_or_else(|error| format!("# {error}"))
}

/// A configuration that cannot be used.
pub(crate) fn refused(error: ConfigError) -> CommandError {
    let message = error.to_string();
    CommandError::new(Exit::Usage, error.code(), message)
        .with_source(error)
        .with_hint("waybill config default prints every key")
}
