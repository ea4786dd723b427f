//! Each role's way to each of its schemas.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio_postgres::Client;
use tokio_util::sync::CancellationToken;
use waybill_runtime::{Config, Context, Health, PoolError, Role, Schema, chain};
use waybill_store::migrations;

use super::finding::Findings;
use super::privileges;
use crate::commands::migrate::migrated;

/// The oldest server that the migrations run on.
const SERVER_VERSION_MIN: i32 = 150_000;

pub(super) async fn check(config: &Config, findings: &mut Findings) {
    let config = Arc::new(config.clone());
    let health = Health::new(Role::Api);
    let mut servers = BTreeSet::new();
    for &role in Role::ALL {
        let context = match Context::new(Arc::clone(&config), role, &health, CancellationToken::new()) {
            Ok(context) => context,
            Err(error) => {
                findings.fail(
                    format!("kafka settings of {role}"),
                    error.to_string(),
                    "make the file readable",
                );
                continue;
            }
        };
        for &schema in role.schemas() {
            let subject = format!("postgres {schema} as {role}");
            match context.dedicated(schema).await {
                Ok(connection) => {
                    let place = config.database.url(schema).without_user().to_string();
                    if servers.insert(place.clone()) {
                        server(&connection.client, &config, &place, findings).await;
                    }
                    one(&connection.client, role, schema, &subject, findings).await;
                }
                Err(error) => not_connected(&error, role, &subject, findings),
            }
        }
    }
}

/// Says why a role has no connection.
pub(super) fn not_connected(error: &PoolError, role: Role, subject: &str, findings: &mut Findings) {
    let detail = chain(error);
    let remedy = format!(
        "check [database], [credentials.{role}] and the server; waybill migrate apply makes the login and sets its password"
    );
    if error.is_dependency() {
        findings.away(subject, detail, remedy);
    } else {
        findings.fail(subject, detail, remedy);
    }
}

/// What a server is, once an address.
async fn server(db: &Client, config: &Config, place: &str, findings: &mut Findings) {
    let subject = format!("postgres at {place}");
    let row = match db.query_one(include_str!("sql/server.sql"), &[]).await {
        Ok(row) => row,
        Err(error) => return findings.fail(subject, error.to_string(), "look into the server's log"),
    };
    let (version, text, read_only, connections): (i32, String, bool, i32) =
        (row.get(0), row.get(1), row.get(2), row.get(3));
    if version < SERVER_VERSION_MIN {
        findings.fail(&subject, format!("PostgreSQL {text}"), "Waybill needs 15 or later");
    } else if read_only {
        findings.fail(
            &subject,
            format!("PostgreSQL {text}, read-only"),
            "point database.*.url at the primary",
        );
    } else {
        findings.ok(&subject, format!("PostgreSQL {text}"));
    }
    let wanted: usize = Role::ALL.iter().map(|role| connections_of(*role, config, place)).sum();
    if i32::try_from(wanted).is_ok_and(|wanted| wanted > connections) {
        findings.warn(
            &subject,
            format!("one process a role may hold {wanted} connections, and max_connections is {connections}"),
            "raise max_connections, or lower database.*.pool_connections_max",
        );
    }
}

/// The most connections that one process of a role holds to a server. What is beside `export` shares its pool.
fn connections_of(role: Role, config: &Config, place: &str) -> usize {
    let schemas = role.schemas();
    schemas
        .iter()
        .filter(|schema| **schema != Schema::Outbox || !schemas.contains(&Schema::Export))
        .filter(|schema| config.database.url(**schema).without_user().to_string() == place)
        .map(|schema| config.database.of(*schema).pool_connections_max)
        .sum()
}

/// One role's schema: its version and what it lets the role do.
async fn one(db: &Client, role: Role, schema: Schema, subject: &str, findings: &mut Findings) {
    let known = migrated(schema);
    if let Err(error) = migrations::check(db, known).await {
        return findings.fail(subject, error.to_string(), error.hint());
    }
    match privileges::wrong(db, role, schema).await {
        Ok(wrong) if wrong.is_empty() => {
            findings.ok(
                subject,
                format!("version {}, with the privileges that it needs and no more", known.latest()),
            );
        }
        Ok(wrong) => findings.fail(
            subject,
            wrong.join("; "),
            "waybill migrate apply; what it does not mend was changed by hand, or the login is a superuser",
        ),
        Err(error) => findings.fail(subject, error.to_string(), "look into the server's log"),
    }
}
