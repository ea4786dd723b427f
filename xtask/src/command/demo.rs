//! `./dev demo`

mod accounts;
mod api;
mod letter;
mod orders;
mod receiver;
mod seed;
mod tale;
mod timeline;

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;
use waybill_devstack::Undertaking;

use self::accounts::{Accounts, TENANTS};
use self::api::Api;
use self::orders::ORDER_COUNT;
use self::receiver::Receiver;
use self::tale::{Seen, Tale};
use super::up::addresses;
use crate::console::{Console, seconds};
use crate::place::Place;
use crate::remote::block_on;
use crate::system::{System, write_if_changed};

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// A summary as one JSON object on standard output.
    #[arg(long)]
    json: bool,
}

impl Demo {
    pub(crate) fn run(self, place: &Place, undertaking: &Undertaking, console: &Console) -> Result<ExitCode> {
        let lock = place.layout.lock()?;
        let system = System::up(place, undertaking, console)?;
        let accounts = Accounts::make(place, undertaking, console, &system)?;
        let admin_url = system.infrastructure.admin_url.as_str();
        console.step(&format!("Seed {ORDER_COUNT} orders of {} tenants", TENANTS.len()), |step| {
            let seeded = block_on(seed::seed(admin_url, &accounts.tenants, step))??;
            Ok(((), if seeded { String::new() } else { "they are there".into() }))
        })?;
        accounts.apply(place, undertaking, console, &system)?;
        // From here on it runs, whatever becomes of the demo.
        undertaking.keep();
        drop(lock);

        console.say("\nOne export:\n");
        let seen = block_on(Box::pin(tell(place, self.json, &system, &accounts)))??;
        let environment = environment(place, &system, &accounts)?;
        if self.json {
            println!("{}", serde_json::to_string_pretty(&summary(console, &system, &seen))?);
            return Ok(ExitCode::SUCCESS);
        }
        println!("\nIts timeline, from what is stored:\n\n{}", timeline::table(&seen.timeline));
        println!("\nDone ({}).\n\n{}", seconds(console.elapsed()), addresses(&system));
        println!(
            "
Worth trying next:
  . {environment}
  waybill export show {}
  waybill doctor
  ./dev kafka console-consumer --topic {}waybill.export.events --from-beginning --max-messages 2
  ./dev psql -c 'SELECT export_id, state, version, fence FROM export.jobs'
  ./dev down",
            seen.export_id,
            place.topic_prefix()
        );
        Ok(ExitCode::SUCCESS)
    }
}

async fn tell(place: &Place, quiet: bool, system: &System, accounts: &Accounts) -> Result<Seen> {
    let tenant = &accounts.tenants[0];
    let tale = Tale {
        quiet,
        api: Api::new(&system.api_url, &accounts.api_key)?,
        mail: &system.infrastructure.mail,
        receiver: Receiver::listen(&accounts.webhook_secret).await?,
        folder: place.layout.dir().join("demo"),
        rows: seed::rows_of(system.infrastructure.admin_url.as_str(), tenant).await?,
    };
    tale.run().await
}

/// A file for a person's shell: Waybill's commands, as the demo's caller.
fn environment(place: &Place, system: &System, accounts: &Accounts) -> Result<String> {
    let bin = place.binary();
    let bin = bin.parent().context("the binary lies in a folder")?;
    let path = place.layout.dir().join("env");
    let text = format!(
        "export PATH='{}':\"$PATH\"\nexport WAYBILL_CONFIG='{}'\nexport WAYBILL_API_URL='{}'\nexport WAYBILL_API_KEY='{}'\n",
        bin.display(),
        place.config().display(),
        system.api_url,
        accounts.api_key
    );
    write_if_changed(&path, &text)?;
    let shown = path.strip_prefix(place.root()).unwrap_or(&path);
    Ok(shown.display().to_string())
}

fn summary(console: &Console, system: &System, seen: &Seen) -> serde_json::Value {
    json!({
        "seconds": console.elapsed().as_secs_f64(),
        "export_id": seen.export_id,
        "result": seen.export["result"],
        "file": seen.file,
        "counters": seen.counters,
        "mail": seen.mail,
        "webhook": { "id": seen.webhook.id, "body": seen.webhook.body },
        "timeline": seen.timeline,
        "api_url": system.api_url,
    })
}
