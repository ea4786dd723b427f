//! `./dev down`

use std::process::ExitCode;

use anyhow::Result;

use super::{bench, test};
use crate::console::Console;
use crate::infrastructure;
use crate::place::Place;

pub(crate) fn run(place: &Place, console: &Console) -> Result<ExitCode> {
    let _lock = place.layout.lock()?;
    let left_by_a_test = test::stop_left_behind(place, console)?;
    let left_by_a_bench = bench::stop_left_behind(place, console)?;
    if !infrastructure::stop(place, console)? && !left_by_a_test && !left_by_a_bench {
        console.say("Nothing of this clone runs.");
    }
    Ok(ExitCode::SUCCESS)
}
