use super::CommandError;
use crate::output::Output;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum ExportCommand {}

#[expect(clippy::unused_async, reason = "the other nouns' commands are asynchronous")]
pub(crate) async fn run(command: ExportCommand, _output: &Output) -> Result<(), CommandError> {
    match command {}
}
