//! `waybill outbox install`: the structure of an outbox, its partitions and its privileges.

use serde::Serialize;
use waybill_runtime::config::DatabaseUrl;
use waybill_store::migrations::{self, Grant, InstallError, InstallPlan, Part};

use super::direct::{connect, schema_name};
use super::reach::database_url;
use crate::commands::CommandError;
use crate::exit::Exit;
use crate::output::{Output, table};

/// How the server's views name the connection.
const APPLICATION_NAME: &str = "waybill-outbox-install";

/// What to install, where, and for whom.
#[derive(Debug, clap::Args)]
pub(crate) struct Install {
    /// The schema to make: a-z, 0-9 and _, no digit first
    #[arg(long, value_name = "NAME")]
    schema: String,
    /// The database, and a login that is to own the outbox
    #[arg(
        long,
        value_name = "URL",
        env = "WAYBILL_OUTBOX_DATABASE_URL",
        hide_env_values = true,
        value_parser = database_url
    )]
    database_url: DatabaseUrl,
    /// A role that appends events; may be given several times
    #[arg(long = "writer", value_name = "ROLE")]
    writers: Vec<String>,
    /// A role that the relay and the reconciler log in as; may be given several times
    #[arg(long = "relay", value_name = "ROLE")]
    relays: Vec<String>,
    /// A role that decides what becomes of rows that Kafka did not take; may be given several times
    #[arg(long = "operator", value_name = "ROLE")]
    operators: Vec<String>,
    /// A role that looks and changes nothing; may be given several times
    #[arg(long = "reader", value_name = "ROLE")]
    readers: Vec<String>,
    /// Say what would be done
    #[arg(long)]
    dry_run: bool,
}

/// What was done, or would be.
#[derive(Debug, Serialize)]
struct InstallReport {
    database: String,
    dry_run: bool,
    #[serde(flatten)]
    plan: InstallPlan,
}

/// Installs, or says what it would do.
pub(crate) async fn run(install: &Install, output: &Output) -> Result<(), CommandError> {
    let schema = schema_name(&install.schema)?;
    let mut owner = connect(&install.database_url, APPLICATION_NAME).await?;
    let grants = install.grants();
    let plan = if install.dry_run {
        migrations::plan_install(&owner.client, schema.as_str(), &grants).await
    } else {
        migrations::install(&mut owner.client, schema.as_str(), &grants).await
    };
    let report = InstallReport {
        database: install.database_url.without_user().to_string(),
        dry_run: install.dry_run,
        plan: plan.map_err(not_installed)?,
    };
    output.answer(&report, InstallReport::text)
}

impl Install {
    fn grants(&self) -> Vec<Grant> {
        let of = |roles: &[String], part| {
            roles.iter().map(move |role| Grant { role: role.clone(), part }).collect()
        };
        let grants: [Vec<Grant>; 4] = [
            of(&self.writers, Part::Writer),
            of(&self.relays, Part::Relay),
            of(&self.operators, Part::Operator),
            of(&self.readers, Part::Reader),
        ];
        grants.concat()
    }
}

/// What keeps an outbox from being installed, or from being used.
pub(super) fn not_installed(error: InstallError) -> CommandError {
    let exit = if error.is_dependency() {
        Exit::Unavailable
    } else if error.is_refusal() {
        Exit::Refused
    } else {
        Exit::Failed
    };
    CommandError::new(exit, error.code(), error.to_string()).with_hint(error.hint()).with_source(error)
}

impl InstallReport {
    fn text(&self) -> String {
        let InstallPlan { schema, from, to, pending, grants } = &self.plan;
        let place = format!("{schema} in {}", self.database);
        let mut text = match (pending.is_empty(), self.dry_run) {
            (true, _) => format!("{place}: version {to} is there\n"),
            (false, true) => format!("{place}: from version {from} to {to} by {}\n", pending.join(", ")),
            (false, false) => format!("{place}: version {to} was installed\n"),
        };
        if !grants.is_empty() {
            let part = |part| match part {
                Part::Writer => "writer",
                Part::Relay => "relay",
                Part::Operator => "operator",
                Part::Reader => "reader",
            };
            let rows: Vec<_> =
                grants.iter().map(|grant| vec![grant.role.clone(), part(grant.part).to_owned()]).collect();
            text.push_str(&table(&["role", if self.dry_run { "would be" } else { "is" }], &rows));
        }
        text
    }
}
