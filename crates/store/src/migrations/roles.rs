//! The roles of the cluster and what the database as a whole lets them do. What they may do with a table stands beside
//! the table, in the migrations.

use postgres_protocol::password::scram_sha_256;
use serde::Serialize;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, GenericClient};

use super::{MigrationError, Schema};

/// Who owns every table and function. Nobody can log in as it.
pub const OWNER: &str = "waybill_owner";

/// How often a statement about a role is tried while other databases of the cluster change the same role.
const ROLE_ATTEMPTS_MAX: u32 = 50;

/// A service's login.
#[derive(Debug, Clone, Copy)]
pub struct LoginRole<'a> {
    /// Its name, one of those that `migrations/roles.sql` makes.
    pub name: &'a str,
    /// Its password, or none to leave it as it is. Only a verifier of it is sent to the server.
    pub password: Option<&'a str>,
    /// The schemas that it uses.
    pub schemas: &'a [Schema],
}

/// Whether a role is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RoleState {
    /// Its name.
    pub name: String,
    /// Whether the cluster has it.
    pub exists: bool,
}

/// Which of `names` the cluster has, in their order.
///
/// # Errors
/// What the driver says.
pub async fn role_states(db: &impl GenericClient, names: &[&str]) -> Result<Vec<RoleState>, MigrationError> {
    let rows = db.query(include_str!("role_states.sql"), &[&names]).await?;
    rows.iter().map(|row| Ok(RoleState { name: row.try_get(0)?, exists: row.try_get(1)? })).collect()
}

/// Takes from everybody what Postgres gives everybody: to connect to this database, to make temporary tables and to
/// make tables in `public`. An admin who does not own the database takes nothing, and Postgres only warns.
///
/// # Errors
/// What the driver says.
pub async fn restrict_database(db: &Client) -> Result<(), MigrationError> {
    let database = current_database(db).await?;
    db.batch_execute(&format!("REVOKE ALL ON DATABASE {} FROM PUBLIC", quoted(&database))).await?;
    db.batch_execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC").await.or_else(|error| {
        // The schema was dropped, which is as good.
        if error.code() == Some(&SqlState::INVALID_SCHEMA_NAME) { Ok(()) } else { Err(error.into()) }
    })
}

/// Lets logins connect to this database.
pub(super) async fn let_connect(
    db: &Client,
    names: impl Iterator<Item = &str>,
) -> Result<(), MigrationError> {
    let database = quoted(&current_database(db).await?);
    for name in names {
        db.batch_execute(&format!("GRANT CONNECT ON DATABASE {database} TO {}", quoted(name))).await?;
    }
    Ok(())
}

/// Makes the roles that are missing.
pub(super) async fn create(db: &Client) -> Result<(), MigrationError> {
    change_roles(db, include_str!("../../../../migrations/roles.sql")).await
}

/// Sets passwords. What is sent is a SCRAM verifier: neither the server's log nor its statistics see a password.
pub(super) async fn set_passwords(db: &Client, roles: &[LoginRole<'_>]) -> Result<(), MigrationError> {
    for role in roles {
        let Some(password) = role.password else { continue };
        let verifier = scram_sha_256(password.as_bytes());
        change_roles(db, &format!("ALTER ROLE {} PASSWORD '{verifier}'", quoted(role.name))).await?;
    }
    Ok(())
}

/// Lets the admin act as the owner, which a superuser always may.
pub(super) async fn become_member_of_owner(db: &Client) -> Result<(), MigrationError> {
    let refused = match db.batch_execute(&format!("SET ROLE {OWNER}")).await {
        Ok(()) => return Ok(db.batch_execute("RESET ROLE").await?),
        Err(error) => error,
    };
    if refused.code() != Some(&SqlState::INSUFFICIENT_PRIVILEGE) {
        return Err(refused.into());
    }
    change_roles(db, &format!("GRANT {OWNER} TO CURRENT_USER")).await
}

/// Runs a statement about roles. They are rows of the cluster's own catalogues, which no advisory lock of one database
/// can guard: a change that meets another one is refused by Postgres as a whole and is tried again.
async fn change_roles(db: &Client, sql: &str) -> Result<(), MigrationError> {
    let mut attempt = 1;
    loop {
        let Err(error) = db.batch_execute(sql).await else { return Ok(()) };
        // `tuple concurrently updated` has no code of its own.
        let met_another = [SqlState::INTERNAL_ERROR, SqlState::UNIQUE_VIOLATION, SqlState::DUPLICATE_OBJECT];
        if attempt == ROLE_ATTEMPTS_MAX || !error.code().is_some_and(|code| met_another.contains(code)) {
            return Err(error.into());
        }
        db.execute(include_str!("pause.sql"), &[]).await?;
        attempt += 1;
    }
}

async fn current_database(db: &Client) -> Result<String, MigrationError> {
    Ok(db.query_one(include_str!("current_database.sql"), &[]).await?.try_get(0)?)
}

/// An identifier, quoted.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
