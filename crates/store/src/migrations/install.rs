//! The structure of an outbox in any schema of any database, for a service that Waybill otherwise knows nothing of.
//!
//! Only the files of `migrations/outbox` that say nothing of Waybill's own roles are run; who may do what is granted to
//! the roles that are named. Deliberately absent: roles, passwords and everything about the database as a whole, which are
//! its owner's.

use serde::Serialize;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, GenericClient};

use super::embedded::{self, File};
use super::install_error::InstallError;
use super::roles::quoted;
use super::{LOCK_TIMEOUT_MS, TURN_LOCK, TURN_TIMEOUT_MS};

/// How many days of partitions an installation makes ahead.
const PARTITIONS_AHEAD_DAYS: i32 = 14;

/// What a role does with an outbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// Appends events.
    Writer,
    /// Relays them, and keeps the outbox in shape.
    Relay,
    /// Looks, and decides what becomes of rows that Kafka did not take.
    Operator,
    /// Looks, and changes nothing.
    Reader,
}

/// A role with its part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Grant {
    /// The role, which exists.
    pub role: String,
    /// What it may do.
    pub part: Part,
}

/// What an installation changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InstallPlan {
    /// The schema.
    pub schema: String,
    /// The stored version of the structure; 0 when there is none.
    pub from: i32,
    /// The version that this Waybill knows.
    pub to: i32,
    /// The migrations between them, by file name.
    pub pending: Vec<&'static str>,
    /// Who is granted what; what is granted already is granted again.
    pub grants: Vec<Grant>,
}

/// What [`install`] would do. `schema` must be a plain lower-case name.
///
/// # Errors
/// [`InstallError`] for what [`install`] would refuse.
pub async fn plan_install(
    db: &impl GenericClient,
    schema: &str,
    grants: &[Grant],
) -> Result<InstallPlan, InstallError> {
    let place = db.query_one(include_str!("install/place.sql"), &[&schema]).await?;
    let encoding: String = place.try_get("encoding")?;
    if encoding != "UTF8" {
        return Err(InstallError::Encoding { encoding });
    }
    for role in super::role_states(db, &grants.iter().map(|grant| grant.role.as_str()).collect::<Vec<_>>())
        .await
        .map_err(InstallError::Roles)?
    {
        if !role.exists {
            return Err(InstallError::RoleMissing { role: role.name });
        }
    }
    let from = installed(db, schema).await?;
    if let (0, Some(relation)) = (from, place.try_get::<_, Option<String>>("relation")?) {
        return Err(InstallError::Foreign {
            schema: schema.to_owned(),
            found: format!("the relation `{relation}`"),
        });
    }
    let to = embedded::outbox_structure().map(File::version).max().unwrap_or(0);
    if from > to {
        return Err(InstallError::Newer { schema: schema.to_owned(), stored: from, known: to });
    }
    let pending = embedded::outbox_structure().filter(|file| file.version() > from).map(|file| file.name);
    Ok(InstallPlan {
        schema: schema.to_owned(),
        from,
        to,
        pending: pending.collect(),
        grants: grants.to_vec(),
    })
}

/// Puts an outbox into a schema, or brings the one that is there to this version, makes its partitions and grants the
/// roles their parts. Installing again changes nothing. `db` must be logged in as whoever is to own it all: with CREATE on
/// the database, unless the schema is there and its own. After an error the session is in an unknown state: drop it.
///
/// # Errors
/// [`InstallError`]; what was recorded stays applied, and the next run goes on from there.
pub async fn install(db: &mut Client, schema: &str, grants: &[Grant]) -> Result<InstallPlan, InstallError> {
    db.batch_execute(&format!("SET lock_timeout = {TURN_TIMEOUT_MS}")).await?;
    db.execute(include_str!("take_turn.sql"), &[&TURN_LOCK]).await?;
    let plan = plan_install(db, schema, grants).await?;
    let place = db.query_one(include_str!("install/place.sql"), &[&schema]).await?;
    let name = quoted(schema);
    if !place.try_get::<_, bool>("schema_exists")? {
        db.batch_execute(&format!("CREATE SCHEMA {name}")).await?;
    }
    let session = format!("SET lock_timeout = {LOCK_TIMEOUT_MS}; SET search_path = {name}, pg_temp");
    db.batch_execute(&session).await?;
    let failed = |source: refinery::Error| InstallError::Migration {
        schema: schema.to_owned(),
        source: source.into(),
    };
    let mut runner = embedded::runner(embedded::outbox_structure()).map_err(failed)?;
    runner.set_migration_table_name(format!("{name}.schema_history"));
    runner.run_async(db).await.map_err(failed)?;
    db.query_one(include_str!("install/ensure_partitions.sql"), &[&PARTITIONS_AHEAD_DAYS]).await?;
    for Grant { role, part } in grants {
        let statements = match part {
            Part::Writer => include_str!("../../../../migrations/outbox_grants/writer.sql"),
            Part::Relay => include_str!("../../../../migrations/outbox_grants/relay.sql"),
            Part::Operator => include_str!("../../../../migrations/outbox_grants/operator.sql"),
            Part::Reader => include_str!("../../../../migrations/outbox_grants/reader.sql"),
        };
        let statements = statements.replace("{schema}", &name).replace("{role}", &quoted(role));
        db.batch_execute(&statements).await?;
    }
    db.batch_execute("RESET search_path; RESET lock_timeout").await?;
    db.execute(include_str!("end_turn.sql"), &[&TURN_LOCK]).await?;
    Ok(plan)
}

/// Refuses an outbox whose structure this Waybill does not know, in whichever schema it is: too old, too new, something
/// else, or not there.
///
/// # Errors
/// [`InstallError::Older`], [`InstallError::Newer`], [`InstallError::Foreign`], or what Postgres said.
pub async fn check_outbox(db: &impl GenericClient, schema: &str) -> Result<(), InstallError> {
    let history = history(db, schema).await?;
    refuse_strangers(schema, &history)?;
    let structure = history.iter().filter(|(_, name)| !embedded::is_privileges(name));
    let stored = structure.map(|(version, _)| *version).max().unwrap_or(0);
    let known = embedded::outbox_structure().map(File::version).max().unwrap_or(0);
    let schema = schema.to_owned();
    match stored.cmp(&known) {
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Less => Err(InstallError::Older { schema, stored, known }),
        std::cmp::Ordering::Greater => Err(InstallError::Newer { schema, stored, known }),
    }
}

/// Whether the outbox in this schema is Waybill's own, which belongs to its exports and which `waybill migrate` keeps.
///
/// # Errors
/// What Postgres said.
pub async fn is_own_outbox(db: &impl GenericClient, schema: &str) -> Result<bool, InstallError> {
    Ok(history(db, schema).await?.iter().any(|(_, name)| embedded::is_privileges(name)))
}

/// The stored version of the structure; 0 when there is none. What was not installed by this is refused.
async fn installed(db: &impl GenericClient, schema: &str) -> Result<i32, InstallError> {
    let history = history(db, schema).await?;
    if history.iter().any(|(_, name)| embedded::is_privileges(name)) {
        let found = "Waybill's own outbox".to_owned();
        return Err(InstallError::Foreign { schema: schema.to_owned(), found });
    }
    refuse_strangers(schema, &history)?;
    Ok(history.last().map_or(0, |(version, _)| *version))
}

/// Refuses a migration of a version that this Waybill knows and that is not its own.
fn refuse_strangers(schema: &str, history: &[(i32, String)]) -> Result<(), InstallError> {
    let newest_known = embedded::Schema::Outbox.latest();
    let stranger = history.iter().find(|(version, name)| {
        *version <= newest_known && !embedded::is_outbox_file(&format!("V{version}__{name}"))
    });
    match stranger {
        None => Ok(()),
        Some((_, name)) => {
            Err(InstallError::Foreign { schema: schema.to_owned(), found: format!("the migration `{name}`") })
        }
    }
}

async fn history(db: &impl GenericClient, schema: &str) -> Result<Vec<(i32, String)>, InstallError> {
    let sql = include_str!("install/history.sql").replace("{schema}", &quoted(schema));
    let rows = match db.query(&sql, &[]).await {
        Ok(rows) => rows,
        Err(error)
            if matches!(error.code(), Some(&SqlState::UNDEFINED_TABLE | &SqlState::INVALID_SCHEMA_NAME)) =>
        {
            return Ok(Vec::new());
        }
        Err(source) if source.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
            return Err(InstallError::HistoryUnreadable { schema: schema.to_owned(), source });
        }
        Err(error) => return Err(error.into()),
    };
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}
