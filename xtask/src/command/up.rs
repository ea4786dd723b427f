//! `./dev up`

use std::process::ExitCode;

use anyhow::Result;
use waybill_devstack::Undertaking;

use crate::console::{Console, seconds};
use crate::place::Place;
use crate::system::System;

pub(crate) fn run(place: &Place, undertaking: &Undertaking, console: &Console) -> Result<ExitCode> {
    let _lock = place.layout.lock()?;
    let system = System::up(place, undertaking, console)?;
    undertaking.keep();
    console.say(&format!("\nEverything is up ({}).\n", seconds(console.elapsed())));
    println!("{}", addresses(&system));
    println!(
        "
Worth trying next:
  ./dev demo               run one export through all of it
  ./dev status             what runs
  ./dev psql               look at the tables
  ./dev kafka topics --list
  ./dev down               stop it; the data stays"
    );
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn addresses(system: &System) -> String {
    format!(
        "\
  api           {}
  management    {}/readyz  /metrics
  Postgres      {}
  Kafka         {}
  mail sink     SMTP 127.0.0.1:{}, http://127.0.0.1:{}/api/user",
        system.api_url,
        system.management_url,
        system.infrastructure.postgres_address(),
        system.infrastructure.bootstrap,
        system.infrastructure.mail.smtp_port(),
        system.infrastructure.mail.api_port(),
    )
}
