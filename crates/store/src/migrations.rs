//! The schemas' versions: what is stored, what this version of Waybill knows, and the way from the one to the other.
//!
//! A migration runs in its own transaction as `waybill_owner`, under a short `lock_timeout`, and is recorded in
//! `<schema>.schema_history`. Two processes that migrate one database wait for each other; two that migrate two
//! databases of one cluster meet in the roles, which are the cluster's, and try again. Deliberately absent: a way back.

mod codes;
mod embedded;
mod error;
mod install;
mod install_error;
mod roles;

use serde::Serialize;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, GenericClient};

pub use embedded::Schema;
pub use error::MigrationError;
pub use install::{Grant, InstallPlan, Part, check_outbox, install, is_own_outbox, plan_install};
pub use install_error::InstallError;
pub use roles::{LoginRole, OWNER, RoleState, restrict_database, role_states};

/// How long a migration waits for a table that somebody uses. It can be tried again; callers cannot wait for long.
const LOCK_TIMEOUT_MS: u32 = 5_000;
/// How long another process that migrates the same database is waited for.
const TURN_TIMEOUT_MS: u32 = 120_000;
/// The advisory lock of whoever migrates this database. Advisory locks are a database's own.
const TURN_LOCK: i64 = 0x7761_7962_696c_6c02;

/// A schema's way from the stored version to this one's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SchemaPlan {
    /// The schema.
    pub schema: &'static str,
    /// The stored version; 0 when there is none.
    pub from: i32,
    /// The version that this Waybill knows.
    pub to: i32,
    /// The migrations between them, by file name.
    pub pending: Vec<&'static str>,
}

/// The stored version of a schema; 0 when it was never migrated.
///
/// # Errors
/// [`MigrationError::HistoryUnreadable`] when this login may not read it; [`MigrationError::Postgres`].
pub async fn version(db: &impl GenericClient, schema: Schema) -> Result<i32, MigrationError> {
    let sql = include_str!("migrations/version.sql").replace("{schema}", schema.as_str());
    match db.query_one(&sql, &[]).await {
        Ok(row) => Ok(row.try_get(0)?),
        Err(error) => match error.code() {
            Some(&SqlState::UNDEFINED_TABLE | &SqlState::INVALID_SCHEMA_NAME) => Ok(0),
            Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
                Err(MigrationError::HistoryUnreadable { schema, source: error })
            }
            _ => Err(MigrationError::Postgres(error)),
        },
    }
}

/// Refuses a schema version that this Waybill does not know: one that is too old, too new, or not there.
///
/// # Errors
/// [`MigrationError::OtherVersion`], or as [`version`].
pub async fn check(db: &impl GenericClient, schema: Schema) -> Result<(), MigrationError> {
    let stored = version(db, schema).await?;
    let known = schema.latest();
    if stored == known { Ok(()) } else { Err(MigrationError::OtherVersion { schema, stored, known }) }
}

/// What [`apply`] would do to one schema.
///
/// # Errors
/// As [`version`].
pub async fn plan(db: &impl GenericClient, schema: Schema) -> Result<SchemaPlan, MigrationError> {
    Ok(plan_from(schema, version(db, schema).await?))
}

/// Brings schemas of one database to this version: roles, the database's own privileges, schemas, migrations, and the
/// right to read a schema's version. Running it again changes nothing but passwords. `db` must be logged in as the
/// database's owner with `CREATEROLE`, or as a superuser. After an error the session is in an unknown state: drop it.
///
/// # Errors
/// [`MigrationError`]; everything that was recorded stays applied, and the next run goes on from there.
pub async fn apply(
    db: &mut Client,
    schemas: &[Schema],
    roles: &[LoginRole<'_>],
) -> Result<Vec<SchemaPlan>, MigrationError> {
    db.batch_execute(&format!("SET lock_timeout = {TURN_TIMEOUT_MS}")).await?;
    db.execute(include_str!("migrations/take_turn.sql"), &[&TURN_LOCK]).await?;
    roles::create(db).await?;
    roles::set_passwords(db, roles).await?;
    roles::become_member_of_owner(db).await?;
    restrict_database(db).await?;
    let users = |schema: Schema| roles.iter().filter(move |role| role.schemas.contains(&schema));
    let connecting = roles.iter().filter(|role| role.schemas.iter().any(|schema| schemas.contains(schema)));
    roles::let_connect(db, connecting.map(|role| role.name)).await?;
    let mut applied = Vec::with_capacity(schemas.len());
    for &schema in schemas {
        applied.push(migrate(db, schema).await?);
        for role in users(schema) {
            let grant = format!("GRANT SELECT ON {schema}.schema_history TO {}", roles::quoted(role.name));
            db.batch_execute(&grant).await?;
        }
        db.batch_execute("RESET ROLE; RESET search_path").await?;
    }
    db.execute(include_str!("migrations/end_turn.sql"), &[&TURN_LOCK]).await?;
    Ok(applied)
}

/// Migrates one schema and stays `waybill_owner`.
async fn migrate(db: &mut Client, schema: Schema) -> Result<SchemaPlan, MigrationError> {
    let stored = version(db, schema).await?;
    if stored > schema.latest() {
        return Err(MigrationError::OtherVersion { schema, stored, known: schema.latest() });
    }
    db.batch_execute(&format!("CREATE SCHEMA IF NOT EXISTS {schema} AUTHORIZATION {OWNER}")).await?;
    let session = format!(
        "SET ROLE {OWNER}; SET lock_timeout = {LOCK_TIMEOUT_MS}; SET search_path = {schema}, pg_temp"
    );
    db.batch_execute(&session).await?;
    let mut runner =
        schema.runner().map_err(|source| MigrationError::Migration { schema, source: source.into() })?;
    runner.set_migration_table_name(format!("{schema}.schema_history"));
    runner
        .run_async(db)
        .await
        .map_err(|source| MigrationError::Migration { schema, source: source.into() })?;
    Ok(plan_from(schema, stored))
}

fn plan_from(schema: Schema, from: i32) -> SchemaPlan {
    let pending = schema.files().iter().filter(|file| file.version() > from).map(|file| file.name);
    SchemaPlan { schema: schema.as_str(), from, to: schema.latest(), pending: pending.collect() }
}
