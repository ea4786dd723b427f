use super::CommandError;
use crate::output::Output;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum DatasetCommand {}

#[expect(clippy::unused_async, reason = "the other nouns' commands are asynchronous")]
pub(crate) async fn run(command: DatasetCommand, _output: &Output) -> Result<(), CommandError> {
    match command {}
}
