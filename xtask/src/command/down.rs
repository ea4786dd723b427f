//! `./dev down`

use std::process::ExitCode;

use anyhow::Result;

use crate::console::Console;
use crate::infrastructure;
use crate::place::Place;

pub(crate) fn run(place: &Place, console: &Console) -> Result<ExitCode> {
    let _lock = place.layout.lock()?;
    if !infrastructure::stop(place, console)? {
        console.say("Nothing of this clone runs.");
    }
    Ok(ExitCode::SUCCESS)
}
