//! `./dev bench NAME`

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;

use super::UsageError;

/// The benches that exist.
const BENCHES: [&str; 0] = [];

#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// Which one.
    name: Option<String>,
    /// The same work, smaller.
    #[arg(long)]
    quick: bool,
}

impl Bench {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let known = if BENCHES.is_empty() { "there is none yet".to_owned() } else { BENCHES.join(", ") };
        match self.name {
            Some(name) => bail!(UsageError(format!("no bench is called {name}: {known}"))),
            None => bail!(UsageError(format!("name the bench to run: {known}"))),
        }
    }
}
