//! Waybill's binary: every role but one, and the operator's commands.

mod cli;
mod client;
mod codes;
mod commands;
mod exit;
mod output;

use std::process::ExitCode;

use clap::Parser;
use waybill_runtime::Config;

use crate::cli::{Cli, Command, Global};
use crate::exit::{CommandError, Exit};
use crate::output::Output;

/// Enough threads that a few that are held up by a client library cannot stop every timer.
const WORKER_THREADS_MIN: usize = 4;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(help) => {
            let _ = help.print();
            return if help.use_stderr() { Exit::Usage.into() } else { ExitCode::SUCCESS };
        }
    };
    let output = Output { json: cli.global.json };
    match run(cli, output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output.error(&error);
            error.exit.into()
        }
    }
}

/// Runs the command, and does not wait for what it leaves behind: a role that did not end in time ends with the
/// process.
fn run(cli: Cli, output: Output) -> Result<(), CommandError> {
    let setup = |error: std::io::Error| {
        CommandError::new(Exit::Failed, codes::PROCESS_SETUP_FAILED, "cannot start threads")
            .with_source(error)
    };
    let threads = std::thread::available_parallelism().map_or(WORKER_THREADS_MIN, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads.max(WORKER_THREADS_MIN))
        .enable_all()
        .build()
        .map_err(setup)?;
    let result = runtime.block_on(Box::pin(dispatch(cli, output)));
    runtime.shutdown_background();
    result
}

async fn dispatch(cli: Cli, output: Output) -> Result<(), CommandError> {
    armed()?;
    let Cli { global, command } = cli;
    match command {
        Command::Run(command) => commands::run::run(command, load(&global)?).await,
        Command::Up => commands::up::run(load(&global)?).await,
        Command::Migrate(command) => commands::migrate::run(command, &load(&global)?, output).await,
        Command::Topic(command) => commands::topic::run(command, &load(&global)?, output).await,
        Command::Outbox(command) => commands::outbox::run(command, || load(&global), &output).await,
        Command::Parked(command) => commands::parked::run(command, &output).await,
        Command::Doctor => commands::doctor::run(&load(&global)?, output).await,
        Command::Config(command) => commands::config::run(&command, || load(&global), output),
        Command::Tenant(command) => commands::tenant::run(command, || load(&global), &output).await,
        Command::ServiceAccount(command) => commands::service_account::run(command, &output).await,
        Command::ApiKey(command) => commands::api_key::run(command, || load(&global), &output).await,
        Command::Dataset(command) => commands::dataset::run(command, &output).await,
        Command::Export(command) => commands::export::run(command, &output).await,
        Command::Object(command) => commands::object::run(command, &output).await,
    }
}

fn load(global: &Global) -> Result<Config, CommandError> {
    Config::load(global.config.as_deref()).map_err(commands::config::refused)
}

/// A test that misspells a fault point must not wait for it for ever.
#[cfg(feature = "fault-points")]
fn armed() -> Result<(), CommandError> {
    waybill_fault_points::validate()
        .map(drop)
        .map_err(|error| CommandError::new(Exit::Usage, codes::PROCESS_SETUP_FAILED, error.to_string()))
}

#[cfg(not(feature = "fault-points"))]
#[expect(clippy::unnecessary_wraps, reason = "the other build can refuse")]
const fn armed() -> Result<(), CommandError> {
    Ok(())
}
