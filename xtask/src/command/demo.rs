//! `./dev demo`

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use waybill_devstack::Undertaking;

use crate::console::Console;
use crate::place::Place;

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// A summary as one JSON object on standard output.
    #[arg(long)]
    json: bool,
}

impl Demo {
    pub(crate) fn run(
        self,
        _place: &Place,
        _undertaking: &Undertaking,
        _console: &Console,
    ) -> Result<ExitCode> {
        bail!("soon {}", self.json)
    }
}
