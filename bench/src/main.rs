//! The measuring side of `./dev bench`.
//!
//! A package of its own, because a measurement is worth something only if what measures, and what is measured beside it,
//! are built as `waybill` itself is: optimised. Figures go to standard output, everything else to standard error.

mod accept;
mod client;
mod export;
mod figure;
mod installation;
mod lines;
mod postgres;
mod processor;
mod progress;
mod relay;
mod rest;
mod run;
mod series;
mod shares;
mod stack;
mod stall;
mod topic;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;
use waybill_devstack::Undertaking;

use crate::progress::Progress;
use crate::run::Run;
use crate::stack::Stack;

/// Measures, on a Postgres and a Kafka of its own that are gone afterwards.
#[derive(Debug, Parser)]
#[command(name = "./dev bench")]
struct Arguments {
    /// The `waybill` to measure.
    #[arg(long)]
    waybill: PathBuf,
    /// The same work, smaller.
    #[arg(long)]
    quick: bool,
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Debug, Clone, Copy, clap::Subcommand)]
enum Bench {
    /// The relay beside Debezium and beside a producer without a database.
    Relay,
    /// Files beside `psql` and beside DuckDB.
    Export,
    /// Accepting exports beside `pgbench`, and small ones through everything.
    Accept,
}

fn main() -> ExitCode {
    // First of all: from here on an interrupt takes back what was started.
    let undertaking = Undertaking::begin();
    let outcome = run(&Arguments::parse(), &undertaking);
    undertaking.give_way_to_interrupt();
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Gives whether every figure could be measured.
fn run(arguments: &Arguments, undertaking: &Undertaking) -> Result<bool> {
    let progress = Progress::new();
    let runtime = tokio::runtime::Runtime::new().context("no runtime")?;
    let root = std::env::current_dir().context("cannot tell where this is")?;
    let stack = Stack::start(&root, undertaking, &progress)?;
    let run = Run {
        stack: &stack,
        undertaking,
        progress: &progress,
        waybill: &arguments.waybill,
        quick: arguments.quick,
    };
    let measured = runtime.block_on(async {
        match arguments.bench {
            Bench::Relay => relay::Bench::new(&run).run().await,
            Bench::Export => export::Bench::new(&run).run().await,
            Bench::Accept => accept::Bench::new(&run).run().await,
        }
    });
    stack.end(undertaking, &progress)?;
    let figures = measured?;
    for figure in &figures {
        println!("{}", figure.to_json());
    }
    Ok(figures.iter().all(figure::Figure::is_measured))
}
