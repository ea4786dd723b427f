//! The logic behind `./dev`.
//!
//! `./dev` itself only sees to it that the machine has what a build needs. Everything that a person then asks for is
//! a command here.

mod binary;
mod command;
mod console;
mod infrastructure;
mod place;
mod remote;
mod system;

use std::process::ExitCode;

use clap::Parser;
use waybill_devstack::Undertaking;

use crate::command::Command;
use crate::console::Console;
use crate::place::Place;

/// Develops Waybill on real Kafka and real Postgres, all inside of this clone.
#[derive(Debug, Parser)]
#[command(name = "./dev", bin_name = "./dev", after_help = EXAMPLES)]
struct Arguments {
    /// Ask nothing.
    #[arg(long, global = true)]
    yes: bool,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  ./dev demo                               set everything up and run one export through all of it
  ./dev up                                 set everything up and leave it running
  ./dev kafka topics --list                one of Kafka's own tools, on this clone's broker
  ./dev psql -c 'TABLE export.jobs'        psql as the administrator
  ./dev test --filter outbox               only the tests whose name holds `outbox`
  ./dev bench relay --quick                the relay beside Debezium, one JSON line a figure
  ./dev down                               stop what runs; the data stays in .dev/

With WAYBILL_POSTGRES_URL (an administrator's) and WAYBILL_KAFKA_BOOTSTRAP set, those servers are used and none is
started.";

/// The exit code of a mistake in how the command was asked for.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    // First of all: from here on an interrupt takes back what was started.
    let undertaking = Undertaking::begin();
    let arguments = Arguments::parse();
    let outcome = Place::here().and_then(|place| {
        let console = Console::new();
        command::run(arguments.command, arguments.yes, &place, &undertaking, &console)
    });
    // What fails because it was interrupted is no failure of its own.
    undertaking.give_way_to_interrupt();
    match outcome {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            if error.is::<command::UsageError>() { ExitCode::from(USAGE) } else { ExitCode::FAILURE }
        }
    }
}
