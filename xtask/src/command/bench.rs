//! `./dev bench NAME`

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use clap::Args;
use waybill_devstack::{Layout, Undertaking};

use super::UsageError;
use super::reset::remove_data;
use crate::binary;
use crate::console::Console;
use crate::place::Place;

/// The benches that exist.
const BENCHES: [&str; 3] = ["relay", "export", "accept"];

/// The stack that a bench makes for itself, and what runs in it, in the order in which it is stopped.
const STACK: &str = "bench";
const SERVICES: [&str; 10] =
    ["worker", "api", "search", "stats", "notifier", "reconciler", "relay", "connect", "kafka", "postgres"];

/// As it is shipped: `waybill`, and what measures it.
const RELEASE: [&str; 5] = ["--release", "--package", "waybill", "--package", "waybill-bench"];

#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// Which one: relay, export or accept.
    name: Option<String>,
    /// The same work, smaller.
    #[arg(long)]
    quick: bool,
}

impl Bench {
    /// Becomes the program that measures. That one is a package of its own (`bench/`), because it has to be built
    /// optimised, and nothing else that `./dev` does should wait for that.
    pub(crate) fn run(self, place: &Place, undertaking: &Undertaking, console: &Console) -> Result<ExitCode> {
        let known = BENCHES.join(", ");
        let Some(name) = self.name else {
            bail!(UsageError(format!("name the bench to run: {known}")));
        };
        if !BENCHES.contains(&name.as_str()) {
            bail!(UsageError(format!("no bench is called {name}: {known}")));
        }
        let [waybill, bench] =
            binary::build_both(undertaking, console, &RELEASE, ["waybill", "waybill-bench"])?;
        let mut command = Command::new(bench);
        command.arg("--waybill").arg(waybill).current_dir(place.root());
        if self.quick {
            command.arg("--quick");
        }
        Err(command.arg(name).exec()).context("the bench does not start")
    }
}

/// Stops and removes what a bench left that was killed before it could. One that still runs is left alone. Gives whether
/// there was anything.
pub(crate) fn stop_left_behind(place: &Place, console: &Console) -> Result<bool> {
    if !place.layout.dir().join(STACK).exists() {
        return Ok(false);
    }
    let Some(_lock) = place.layout.try_lock_named(STACK)? else {
        console.say("A `./dev bench` of this clone is running: its stack ends with it.");
        return Ok(true);
    };
    let layout = Layout::private(place.root(), STACK)?;
    for name in SERVICES {
        waybill_devstack::ServiceFile::of(&layout, name).stop()?;
    }
    remove_data(&place.private(STACK)?)?;
    Ok(true)
}
