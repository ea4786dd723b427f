//! What a role must be able to do in a schema, and what nobody but the owner may.

use tokio_postgres::Client;
use waybill_runtime::{Role, Schema};

/// What the role cannot do and must, then what it can do and must not.
pub(super) async fn wrong(
    db: &Client,
    role: Role,
    schema: Schema,
) -> Result<Vec<String>, tokio_postgres::Error> {
    let (mut relations, mut privileges) = (Vec::new(), Vec::new());
    for (tables, granted) in expected(role, schema) {
        for table in *tables {
            for privilege in *granted {
                relations.push(format!("{schema}.{table}"));
                privileges.push(*privilege);
            }
        }
    }
    let missing = db.query(include_str!("sql/missing_privileges.sql"), &[&relations, &privileges]).await?;
    let excess = db.query(include_str!("sql/excess_privileges.sql"), &[&schema.as_str()]).await?;
    let missing = missing.iter().map(|row| format!("lacks {}", row.get::<_, String>(0)));
    Ok(missing
        .chain(excess.iter().map(|row| format!("should not have {}", row.get::<_, String>(0))))
        .collect())
}

type Grants = &'static [(&'static [&'static str], &'static [&'static str])];

const READ: &[&str] = &["SELECT"];
const ADD: &[&str] = &["SELECT", "INSERT"];
const CHANGE: &[&str] = &["SELECT", "INSERT", "UPDATE"];
const MOVE: &[&str] = &["SELECT", "UPDATE"];
/// What the consumer crate does in every schema that holds a consumer's effects.
const POSITIONS: (&[&str], &[&str]) = (&["positions"], CHANGE);
const PARKED: (&[&str], &[&str]) = (&["parked"], ADD);
const TOPICS: (&[&str], &[&str]) = (&["topics"], READ);

/// The grants of the migrations that a role cannot work without.
const fn expected(role: Role, schema: Schema) -> Grants {
    match (role, schema) {
        (Role::Api, Schema::Export) => &[
            (&["tenants", "api_keys", "jobs"], CHANGE),
            (&["service_accounts", "dataset_revisions", "intents", "facts", "commands", "decisions"], ADD),
            (&["attempts", "candidates"], READ),
        ],
        (Role::Api, Schema::Outbox) => {
            &[(&["events"], ADD), (&["batches", "cursor"], READ), (&["holds", "parked", "topics"], MOVE)]
        }
        (Role::Api, Schema::Search) => &[(&["documents", "pointer"], READ)],
        (Role::Api, Schema::Stats) => &[(&["counters", "pointer"], READ)],
        (Role::Api, Schema::Notify) => &[(&["notifications", "attempts"], READ)],
        (Role::Relay, Schema::Outbox) => &[
            (&["events"], READ),
            (&["cursor"], MOVE),
            (&["batches"], &["INSERT"]),
            (&["holds", "parked"], CHANGE),
            (&["topics"], ADD),
        ],
        (Role::Worker, Schema::Export) => &[
            (&["tenants", "jobs"], MOVE),
            (&["attempts", "candidates"], CHANGE),
            (&["facts"], ADD),
            (&["dataset_revisions"], READ),
            POSITIONS,
            PARKED,
            TOPICS,
        ],
        (Role::Worker | Role::Reconciler, Schema::Outbox) => &[(&["events"], &["INSERT"])],
        (Role::Reconciler, Schema::Export) => &[(&["jobs"], MOVE), (&["commands"], ADD)],
        (Role::Search, Schema::Search) => &[(&["documents"], CHANGE), POSITIONS, PARKED, TOPICS],
        (Role::Stats, Schema::Stats) => {
            &[(&["counters"], CHANGE), (&["inbox"], ADD), POSITIONS, PARKED, TOPICS]
        }
        (Role::Notifier, Schema::Notify) => &[
            (&["notifications", "attempts", "high_water"], CHANGE),
            (&["inbox"], ADD),
            POSITIONS,
            PARKED,
            TOPICS,
        ],
        // Every pair that `Role::schemas` names stands above.
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use waybill_runtime::Role;

    use super::expected;

    #[test]
    fn every_schema_of_every_role_has_its_expectations() {
        for &role in Role::ALL {
            for &schema in role.schemas() {
                assert!(!expected(role, schema).is_empty(), "{role} in {schema}");
            }
        }
    }
}
