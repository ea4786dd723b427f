//! `./dev reset`

use std::fs;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use waybill_devstack::{Credentials, Durability, Kafka, Ports, Postgres, Undertaking};

use super::{UsageError, bench, test};
use crate::console::Console;
use crate::infrastructure::{self, fetched};
use crate::place::{External, Place};
use crate::remote::{block_on, drop_databases};

pub(crate) fn run(
    yes: bool,
    place: &Place,
    undertaking: &Undertaking,
    console: &Console,
) -> Result<ExitCode> {
    if !yes && !confirmed(place)? {
        console.say("Nothing was removed.");
        return Ok(ExitCode::FAILURE);
    }
    let lock = place.layout.lock()?;
    infrastructure::stop(place, console)?;
    if let Some(external) = &place.external {
        remove_from(external, place, undertaking, console)?;
    }
    test::stop_left_behind(place, console)?;
    bench::stop_left_behind(place, console)?;
    remove_data(place)?;
    drop(lock);
    console.say(&format!("Removed {}", place.layout.dir().display()));
    Ok(ExitCode::SUCCESS)
}

/// Removes the stack's folder, and the cluster, which root keeps elsewhere.
pub(crate) fn remove_data(place: &Place) -> Result<()> {
    let mut ports = Ports::load(&place.layout)?;
    let mut credentials = Credentials::load(&place.layout)?;
    Postgres::of(&place.layout, &mut ports, &mut credentials, Durability::Durable)?.remove()?;
    let dir = place.layout.dir();
    fs::remove_dir_all(dir).with_context(|| format!("cannot remove {}", dir.display()))
}

/// What this clone made on servers that are not its own.
fn remove_from(
    external: &External,
    place: &Place,
    undertaking: &Undertaking,
    console: &Console,
) -> Result<()> {
    let dropped = block_on(drop_databases(&external.postgres_url, &place.database()))??;
    console.say(&format!("Dropped {dropped} databases"));
    let jars = fetched(place, undertaking, console, "kafka")?;
    let mut tool = Kafka::tool(&jars, "topics").context("Kafka has no tool for topics")?;
    let topics = format!("{}.*", place.topic_prefix().replace('.', "\\."));
    tool.args([
        "--bootstrap-server",
        &external.kafka_bootstrap,
        "--delete",
        "--if-exists",
        "--topic",
        &topics,
    ]);
    undertaking.run(&mut tool, "Kafka's topics tool", "install Java 17 or later")?;
    console.say(&format!("Deleted the topics {topics}"));
    Ok(())
}

fn confirmed(place: &Place) -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        bail!(UsageError("this removes all data of the clone: say --yes".into()));
    }
    eprint!("Remove {} and every row and record in it? [y/N] ", place.layout.dir().display());
    std::io::stderr().flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
