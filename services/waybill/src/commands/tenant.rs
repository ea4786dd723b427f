use super::CommandError;
use crate::output::Output;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum TenantCommand {}

#[expect(clippy::unused_async, reason = "the other nouns' commands are asynchronous")]
pub(crate) async fn run(command: TenantCommand, _output: &Output) -> Result<(), CommandError> {
    match command {}
}
