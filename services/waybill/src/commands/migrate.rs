//! `waybill migrate`: brings the databases to this version's schemas.

mod report;

use std::collections::BTreeMap;

use waybill_runtime::{Config, Role, Schema, Secret, connect_as_admin};
use waybill_store::migrations::{self, LoginRole, MigrationError};

use super::CommandError;
use crate::exit::Exit;
use crate::output::Output;
use report::{DatabaseReport, MigrateReport, RoleReport};

const EXAMPLES: &str = "\
Examples:
  waybill migrate plan            schema by schema: from which version to which; roles, passwords, grants
  waybill migrate apply           do it; running it again changes nothing but passwords
  WAYBILL_POSTGRES_URL=postgres://owner@db/waybill waybill migrate apply --json

The admin (`[admin] postgres_url`) owns the database and may create roles, or is a superuser.";

#[derive(Debug, clap::Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum MigrateCommand {
    /// Say what `apply` would do
    Plan,
    /// Make roles and schemas, apply migrations, set passwords
    Apply,
}

/// Plans or applies, database by database.
pub(crate) async fn run(
    command: MigrateCommand,
    config: &Config,
    output: Output,
) -> Result<(), CommandError> {
    let mut databases = Vec::new();
    let mut roles = Vec::new();
    for (place, schemas) in databases_of(config) {
        let mut admin = connect_as_admin(config, schemas[0]).await.map_err(super::database_refused)?;
        let known: Vec<_> = schemas.iter().copied().map(migrated).collect();
        if roles.is_empty() {
            roles = report::roles(&admin.client, config).await.map_err(migration_failed)?;
        }
        let plans = match command {
            MigrateCommand::Plan => {
                let mut plans = Vec::with_capacity(known.len());
                for schema in known {
                    plans.push(migrations::plan(&admin.client, schema).await.map_err(migration_failed)?);
                }
                plans
            }
            MigrateCommand::Apply => {
                output.note(&format!("migrating {place} …"));
                apply(&mut admin.client, config, &known).await?
            }
        };
        databases.push(DatabaseReport { database: place, schemas: plans });
    }
    let applied = matches!(command, MigrateCommand::Apply);
    output.answer(&MigrateReport::new(applied, databases, roles), MigrateReport::text)
}

async fn apply(
    admin: &mut tokio_postgres::Client,
    config: &Config,
    schemas: &[migrations::Schema],
) -> Result<Vec<migrations::SchemaPlan>, CommandError> {
    let mut logins = Vec::with_capacity(Role::ALL.len());
    for &role in Role::ALL {
        let login = config.credentials.of(role);
        // Another user is somebody else's to make and to let in.
        let password = if login.user == role.database_user() { login.password() } else { Ok(None) };
        let used: Vec<_> = role.schemas().iter().copied().map(migrated).collect();
        logins.push((role.database_user(), password.map_err(super::config::refused)?, used));
    }
    let logins: Vec<_> = logins
        .iter()
        .map(|(name, password, schemas)| LoginRole {
            name,
            password: password.as_ref().map(Secret::expose),
            schemas,
        })
        .collect();
    migrations::apply(admin, schemas, &logins).await.map_err(migration_failed)
}

/// Which schemas lie in which database, by its address.
fn databases_of(config: &Config) -> BTreeMap<String, Vec<Schema>> {
    let mut databases = BTreeMap::<String, Vec<Schema>>::new();
    for &schema in Schema::ALL {
        let place = config.database.url(schema).without_user();
        databases.entry(place.to_string()).or_default().push(schema);
    }
    databases
}

/// The migrations of a schema.
pub(crate) const fn migrated(schema: Schema) -> migrations::Schema {
    match schema {
        Schema::Export => migrations::Schema::Export,
        Schema::Outbox => migrations::Schema::Outbox,
        Schema::Search => migrations::Schema::Search,
        Schema::Stats => migrations::Schema::Stats,
        Schema::Notify => migrations::Schema::Notify,
    }
}

/// A schema that was not migrated, or whose version is another one than ours.
pub(crate) fn migration_failed(error: MigrationError) -> CommandError {
    let about_version =
        matches!(error, MigrationError::OtherVersion { .. } | MigrationError::HistoryUnreadable { .. });
    let exit = if error.is_dependency() {
        Exit::Unavailable
    } else if about_version {
        Exit::Refused
    } else {
        Exit::Failed
    };
    CommandError::new(exit, error.code(), error.to_string()).with_hint(error.hint()).with_source(error)
}

impl RoleReport {
    /// The login of a role, and where its password comes from.
    fn of(role: Role, exists: bool, config: &Config) -> Self {
        let (name, login) = (role.database_user(), config.credentials.of(role));
        let password = if login.user != name {
            format!("not set: {role} logs in as {}, which you make a member of {name}", login.user)
        } else if let Some(path) = &login.password_file {
            format!("from credentials.{role}.password_file ({})", path.display())
        } else if login.password.is_some() {
            format!("from credentials.{role}.password")
        } else {
            format!("not set: neither credentials.{role}.password nor .password_file is given")
        };
        let schemas = role.schemas().iter().map(|schema| schema.as_str()).collect();
        Self { role: name.to_owned(), exists, login: true, password, schemas }
    }
}
