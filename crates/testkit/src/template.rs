//! The migrated database that every test's database is a copy of.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tokio_postgres::Client;
use url::Url;
use waybill_devstack::on_database;

use crate::database::connect;
use crate::environment::{scope, waybill_binary};
use crate::process::{Launch, Status};
use crate::settings::Settings;

/// Only one test at a time looks for the template, makes it or copies it, over all test processes.
const TEMPLATE_LOCK: i64 = 0x7761_7962_696c_6c01;

/// The schemas in the order in which their migrations are applied.
const SCHEMAS: [&str; 5] = ["export", "outbox", "search", "stats", "notify"];

/// Makes the database `name` as a copy of the template, which is migrated first when there is none for this state of
/// the migrations.
pub(crate) async fn clone_into(server: &Url, name: &str) {
    let admin = connect(server.as_str()).await;
    run(&admin, &format!("SELECT pg_advisory_lock({TEMPLATE_LOCK})")).await;
    let template = format!("waybill_template_{}_{}", scope(), fingerprint());
    if !exists(&admin, &template).await {
        make(&admin, server, &template).await;
    }
    run(&admin, &format!("CREATE DATABASE {name} TEMPLATE {template}")).await;
    copy_privileges(&admin, &template, name).await;
    // The lock goes with the connection.
}

/// What roles may do with the database itself is the one thing that a copy does not bring along.
async fn copy_privileges(admin: &Client, template: &str, name: &str) {
    run(admin, &format!("REVOKE ALL ON DATABASE {name} FROM PUBLIC")).await;
    let query = "SELECT format('GRANT %s ON DATABASE %I TO %I', privilege_type, $2::text, grantee::regrole)
                 FROM pg_database, aclexplode(datacl) WHERE datname = $1 AND grantee <> 0";
    let grants = admin.query(query, &[&template, &name]).await;
    for grant in grants.unwrap_or_else(|error| panic!("{query}: {error:?}")) {
        run(admin, grant.get(0)).await;
    }
}

async fn exists(admin: &Client, name: &str) -> bool {
    let found = admin.query_opt("SELECT 1 FROM pg_database WHERE datname = $1", &[&name]).await;
    found.unwrap_or_else(|error| panic!("cannot look for the template: {error:?}")).is_some()
}

/// Migrates under another name, so that a template is either complete or not there.
async fn make(admin: &Client, server: &Url, template: &str) {
    let making = format!("{template}_making");
    run(admin, &format!("DROP DATABASE IF EXISTS {making} WITH (FORCE)")).await;
    run(admin, &format!("CREATE DATABASE {making} TEMPLATE template0 ENCODING 'UTF8'")).await;
    migrate(&on_database(server, &making)).await;
    // Sessions that are just ending would keep the database from being renamed.
    run(
        admin,
        &format!("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '{making}'"),
    )
    .await;
    run(admin, &format!("ALTER DATABASE {making} RENAME TO {template}")).await;
}

/// By the product's own command, and only if that knows the migrations that lie here.
async fn migrate(url: &Url) {
    let settings = Settings::on_server(url);
    let applied = Launch::command(&["migrate", "apply"], settings).start();
    let status = applied.wait_over().await;
    assert!(status == Status::Exited(0), "waybill migrate apply: {status:?}\n{}", applied.log().tail());
    let admin = connect(url.as_str()).await;
    for schema in SCHEMAS {
        let latest = files(&migrations().join(schema)).len();
        let query = format!("SELECT max(version)::bigint FROM {schema}.schema_history");
        let stored: i64 = match admin.query_one(&query, &[]).await {
            Ok(row) => row.get(0),
            Err(error) => panic!("{query}: {error:?}"),
        };
        let binary = waybill_binary();
        assert!(
            usize::try_from(stored) == Ok(latest),
            "{} knows {stored} migrations of {schema}, of {latest} here: build it again",
            binary.display()
        );
    }
}

async fn run(admin: &Client, sql: &str) {
    if let Err(error) = admin.batch_execute(sql).await {
        panic!("{sql}: {error:?}");
    }
}

fn migrations() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    files
}

fn fingerprint() -> String {
    let mut hash = Sha256::new();
    hash.update(fs::read(migrations().join("roles.sql")).unwrap_or_default());
    for schema in SCHEMAS {
        for file in files(&migrations().join(schema)) {
            hash.update(file.file_name().unwrap_or_default().as_encoded_bytes());
            hash.update(fs::read(&file).unwrap_or_default());
        }
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
