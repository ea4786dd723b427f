//! What `./dev` can be asked for, one module a command.

mod bench;
mod demo;
mod down;
mod kafka;
mod psql;
mod reset;
mod status;
mod test;
mod up;

use std::process::ExitCode;

use anyhow::Result;
use waybill_devstack::Undertaking;

use crate::console::Console;
use crate::place::Place;

/// The command was asked for in a way that it cannot be.
#[derive(Debug)]
pub(crate) struct UsageError(pub(crate) String);

impl std::fmt::Display for UsageError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Set everything up and run one export through all of it.
    Demo(demo::Demo),
    /// Start Kafka, Postgres, the mail sink and every role, and leave them running.
    Up,
    /// Stop what this clone runs. Its data stays.
    Down,
    /// Stop what this clone runs and remove its data.
    Reset,
    /// Show what this clone runs.
    Status(status::Status),
    /// Open psql on this clone's database, as the administrator.
    Psql(psql::Psql),
    /// Run one of Kafka's own tools on this clone's broker.
    Kafka(kafka::KafkaTool),
    /// Run every check: format, clippy, tidy, unit and end-to-end tests.
    Test(test::Test),
    /// Measure, on a Postgres and a Kafka of the bench's own: `./dev bench relay`.
    Bench(bench::Bench),
}

pub(crate) fn run(
    command: Command,
    yes: bool,
    place: &Place,
    undertaking: &Undertaking,
    console: &Console,
) -> Result<ExitCode> {
    match command {
        Command::Demo(demo) => demo.run(place, undertaking, console),
        Command::Up => up::run(place, undertaking, console),
        Command::Down => down::run(place, console),
        Command::Reset => reset::run(yes, place, undertaking, console),
        Command::Status(status) => status.run(place),
        Command::Psql(psql) => psql.run(place),
        Command::Kafka(tool) => tool.run(place, undertaking, console),
        Command::Test(test) => test.run(place, undertaking, console),
        Command::Bench(bench) => bench.run(place, undertaking, console),
    }
}
