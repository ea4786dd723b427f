use serde::Serialize;
use tokio_postgres::Client;
use waybill_runtime::{Config, Role};
use waybill_store::migrations::{MigrationError, OWNER, SchemaPlan, role_states};

use crate::output::table;

/// What `migrate` says.
#[derive(Debug, Serialize)]
pub(super) struct MigrateReport {
    applied: bool,
    databases: Vec<DatabaseReport>,
    roles: Vec<RoleReport>,
    grants: Vec<String>,
}

/// One database.
#[derive(Debug, Serialize)]
pub(super) struct DatabaseReport {
    pub(super) database: String,
    pub(super) schemas: Vec<SchemaPlan>,
}

/// One role.
#[derive(Debug, Serialize)]
pub(super) struct RoleReport {
    pub(super) role: String,
    /// Whether the cluster had it before.
    pub(super) exists: bool,
    pub(super) login: bool,
    pub(super) password: String,
    /// The schemas that it uses, each as far as that schema's migrations say.
    pub(super) schemas: Vec<&'static str>,
}

/// The roles as the cluster has them now.
pub(super) async fn roles(db: &Client, config: &Config) -> Result<Vec<RoleReport>, MigrationError> {
    let names: Vec<_> =
        [OWNER].into_iter().chain(Role::ALL.iter().map(|role| role.database_user())).collect();
    let states = role_states(db, &names).await?;
    let exists = |name: &str| states.iter().any(|state| state.name == name && state.exists);
    let owner = RoleReport {
        role: OWNER.to_owned(),
        exists: exists(OWNER),
        login: false,
        password: "none: nobody logs in as the owner".to_owned(),
        schemas: Vec::new(),
    };
    let logins = Role::ALL.iter().map(|&role| RoleReport::of(role, exists(role.database_user()), config));
    Ok([owner].into_iter().chain(logins).collect())
}

impl MigrateReport {
    pub(super) fn new(applied: bool, databases: Vec<DatabaseReport>, roles: Vec<RoleReport>) -> Self {
        let mut grants = vec![
            "from everybody: CONNECT, CREATE and TEMPORARY on each database, CREATE on schema public"
                .to_owned(),
            format!("to the admin: membership in {OWNER}"),
        ];
        grants.extend(roles.iter().filter(|role| role.login).map(|role| {
            let histories: Vec<_> =
                role.schemas.iter().map(|schema| format!("{schema}.schema_history")).collect();
            format!(
                "to {}: CONNECT; SELECT on {}; what the migrations grant it",
                role.role,
                histories.join(", ")
            )
        }));
        Self { applied, databases, roles, grants }
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for database in &self.databases {
            text.push_str(&format!("{}\n", database.database));
            let rows: Vec<Vec<String>> = database
                .schemas
                .iter()
                .map(|plan| {
                    let pending =
                        if plan.pending.is_empty() { "–".to_owned() } else { plan.pending.join(", ") };
                    vec![plan.schema.to_owned(), plan.from.to_string(), plan.to.to_string(), pending]
                })
                .collect();
            let heading = if self.applied { "applied" } else { "to apply" };
            text.push_str(&indented(&table(&["schema", "from", "to", heading], &rows)));
        }
        let rows: Vec<Vec<String>> = self
            .roles
            .iter()
            .map(|role| {
                let state = match (role.exists, self.applied) {
                    (true, _) => "exists",
                    (false, true) => "made",
                    (false, false) => "to make",
                };
                vec![role.role.clone(), state.to_owned(), role.password.clone()]
            })
            .collect();
        text.push_str("\nroles\n");
        text.push_str(&indented(&table(&["role", "state", "password"], &rows)));
        text.push_str("\ngrants\n");
        text.push_str(&indented(&self.grants.join("\n")));
        text
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}
