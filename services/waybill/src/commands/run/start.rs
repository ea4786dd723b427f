use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::Duration;

use waybill_runtime::{Context, PoolError, Role, RoleError, chain, codes as runtime_codes};
use waybill_store::migrations;

use crate::commands::database_refused;
use crate::commands::migrate::{migrated, migration_failed};
use crate::exit::{CommandError, Exit};

/// The first wait after a database could not be reached, and the longest one.
const RETRY_FIRST: Duration = Duration::from_millis(250);
const RETRY_LONGEST: Duration = Duration::from_secs(5);

/// Runs one role once its schemas are those that this version knows.
pub(super) async fn start(context: Context) -> Result<(), CommandError> {
    context.beginning();
    if !wait_for_schemas(&context).await? {
        return Ok(());
    }
    let role = context.role;
    // The api says so itself, once callers can reach it.
    if role != Role::Api {
        context.begun();
    }
    tracing::info!(%role, "started");
    // One arm a service: their errors are types of their own. Boxed, because a role's future is large.
    match role {
        Role::Api => Box::pin(waybill_api::run(context)).await.map_err(|error| failed(role, error)),
        Role::Relay => Box::pin(waybill_relay::run(context)).await.map_err(|error| failed(role, error)),
        Role::Worker => Box::pin(waybill_worker::run(context)).await.map_err(|error| failed(role, error)),
        Role::Search => Box::pin(waybill_search::run(context)).await.map_err(|error| failed(role, error)),
        Role::Stats => Box::pin(waybill_stats::run(context)).await.map_err(|error| failed(role, error)),
        Role::Notifier => Box::pin(waybill_notifier::run(context)).await.map_err(|error| failed(role, error)),
        Role::Reconciler => {
            Box::pin(waybill_reconciler::run(context)).await.map_err(|error| failed(role, error))
        }
    }
}

/// Waits until every schema that the role cannot do without was looked at; answers false when the process is asked to
/// end first. A database that is away is waited for; a version that is not known is refused at once.
async fn wait_for_schemas(context: &Context) -> Result<bool, CommandError> {
    let mut wait = RETRY_FIRST;
    loop {
        match check_schemas(context).await {
            Ok(()) => break,
            Err(NotReady::Refused(error)) => return Err(error),
            Err(NotReady::Away(reason)) => {
                context.health.failed("database", runtime_codes::DATABASE_UNREACHABLE, reason);
            }
        }
        tokio::select! {
            () = context.shutdown.cancelled() => return Ok(false),
            () = tokio::time::sleep(wait) => wait = RETRY_LONGEST.min(wait * 2),
        }
    }
    context.health.clear("database");
    Ok(true)
}

/// Why a role cannot begin.
enum NotReady {
    /// Not now.
    Away(String),
    /// Not with this database or this configuration.
    Refused(CommandError),
}

/// Looks at the version of each schema, over one connection a database.
async fn check_schemas(context: &Context) -> Result<(), NotReady> {
    let mut connections = BTreeMap::new();
    for &schema in context.role.required_schemas() {
        let known = migrated(schema);
        let connection = match connections.entry(context.config.database.url(schema).expose().to_owned()) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(context.dedicated(schema).await.map_err(not_connected)?),
        };
        migrations::check(&connection.client, known).await.map_err(|error| {
            if error.is_dependency() {
                NotReady::Away(chain(&error))
            } else {
                NotReady::Refused(migration_failed(error))
            }
        })?;
    }
    Ok(())
}

fn not_connected(error: PoolError) -> NotReady {
    if error.is_dependency() {
        NotReady::Away(chain(&error))
    } else {
        NotReady::Refused(database_refused(error))
    }
}

fn failed(role: Role, error: impl RoleError) -> CommandError {
    let (exit, hint) = match Exit::of(&error) {
        _ if error.is_configuration() => (Exit::Usage, Some("waybill config show")),
        Exit::Unavailable => (Exit::Unavailable, Some("waybill doctor")),
        exit @ (Exit::Failed | Exit::Usage | Exit::NotFound | Exit::Refused) => (exit, None),
    };
    let failed = CommandError::new(exit, error.code(), format!("{role} ended: {error}"));
    let failed = hint.into_iter().fold(failed, CommandError::with_hint);
    failed.with_source(error)
}
