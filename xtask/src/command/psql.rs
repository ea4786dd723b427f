//! `./dev psql`

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use clap::Args;
use waybill_devstack::{Credentials, Durability, Ports, Postgres, find_postgres, on_database};

use crate::place::Place;

#[derive(Debug, Args)]
pub(crate) struct Psql {
    /// psql's own arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

impl Psql {
    pub(crate) fn run(self, place: &Place) -> Result<ExitCode> {
        let mut command = match &place.external {
            Some(external) => {
                let program = find_postgres(None).map_or_else(|_| "psql".into(), |bin| bin.join("psql"));
                let mut command = Command::new(program);
                let server = external.postgres_url.parse().context("the address of Postgres is no URL")?;
                command.arg(on_database(&server, &place.database()).as_str());
                command
            }
            None => {
                let mut ports = Ports::load(&place.layout)?;
                let mut credentials = Credentials::load(&place.layout)?;
                let postgres =
                    Postgres::of(&place.layout, &mut ports, &mut credentials, Durability::Durable)?;
                if postgres.service().running().is_none() {
                    bail!("Postgres does not run: `./dev up` starts it");
                }
                postgres.psql(&place.database())?
            }
        };
        // In place of this process, so that the terminal is psql's.
        Err(command.args(self.arguments).exec().into())
    }
}
