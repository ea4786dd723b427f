//! Migrations against a real server. Roles belong to the whole cluster, so every password here is the one that the
//! other tests use.

use waybill_store::migrations::{self, LoginRole, MigrationError, Schema};
use waybill_testkit::{ROLE_PASSWORD, TestDatabase, connect, postgres_url};

const LOGINS: &[LoginRole<'static>] = &[
    LoginRole { name: "waybill_relay", password: Some(ROLE_PASSWORD), schemas: &[Schema::Outbox] },
    LoginRole { name: "waybill_search", password: Some(ROLE_PASSWORD), schemas: &[Schema::Search] },
];

/// An empty database of the server's admin, or of `owner`, dropped when the test that made it succeeds.
async fn empty_database(name: &str, owner: Option<&str>) -> String {
    let admin = connect(&postgres_url()).await;
    let name = format!("waybill_test_migrations_{name}_{}", std::process::id());
    let owner = owner.map(|owner| format!(" OWNER {owner}")).unwrap_or_default();
    admin
        .batch_execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))
        .await
        .expect("the test server does as its admin says");
    admin
        .batch_execute(&format!("CREATE DATABASE {name} TEMPLATE template0{owner}"))
        .await
        .expect("the test server does as its admin says");
    name
}

async fn drop_database(name: &str) {
    let admin = connect(&postgres_url()).await;
    admin
        .batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)"))
        .await
        .expect("the test server does as its admin says");
}

fn url_of(database: &str) -> String {
    let (server, _) = url_parts();
    format!("{server}/{database}")
}

fn url_parts() -> (String, String) {
    let url = postgres_url();
    let end = url.rfind('/').expect("the test server does as its admin says");
    (url[..end].to_owned(), url[end + 1..].to_owned())
}

#[tokio::test]
async fn two_that_migrate_one_database_at_once_both_succeed() {
    let name = empty_database("twice", None).await;
    let (mut one, mut other) = (connect(&url_of(&name)).await, connect(&url_of(&name)).await);
    let (first, second) = tokio::join!(
        migrations::apply(&mut one, Schema::ALL, LOGINS),
        migrations::apply(&mut other, Schema::ALL, LOGINS),
    );
    let applied: usize =
        [first.unwrap(), second.unwrap()].iter().flatten().map(|plan| plan.pending.len()).sum();
    let all: i32 = Schema::ALL.iter().map(|schema| schema.latest()).sum();
    assert_eq!(i32::try_from(applied).unwrap(), all, "each migration was applied by exactly one of them");
    drop_database(&name).await;
}

#[tokio::test]
async fn databases_of_one_cluster_can_be_migrated_at_once() {
    let mut names = Vec::new();
    for n in 0..4 {
        names.push(empty_database(&format!("beside{n}"), None).await);
    }
    let mut running = tokio::task::JoinSet::new();
    for name in names.clone() {
        running.spawn(async move {
            let mut db = connect(&url_of(&name)).await;
            migrations::apply(&mut db, Schema::ALL, LOGINS).await.map(drop)
        });
    }
    while let Some(result) = running.join_next().await {
        result.unwrap().unwrap();
    }
    for name in names {
        drop_database(&name).await;
    }
}

#[tokio::test]
async fn an_owner_who_is_no_superuser_can_migrate_and_rerunning_changes_nothing() {
    let server = connect(&postgres_url()).await;
    let owner = format!("waybill_test_owner_{}", std::process::id());
    server.batch_execute(&format!("DROP ROLE IF EXISTS {owner}")).await.unwrap();
    server.batch_execute(&format!("CREATE ROLE {owner} LOGIN CREATEROLE PASSWORD 'x'")).await.unwrap();
    let name = empty_database("owned", Some(&owner)).await;
    let (_, place) = url_parts().0.rsplit_once('@').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let mut admin = connect(&format!("postgres://{owner}:x@{place}/{name}")).await;
    let first = migrations::apply(&mut admin, Schema::ALL, LOGINS).await.unwrap();
    assert!(first.iter().all(|plan| plan.from == 0 && plan.to > 0));
    let again = migrations::apply(&mut admin, Schema::ALL, LOGINS).await.unwrap();
    assert!(again.iter().all(|plan| plan.pending.is_empty() && plan.from == plan.to));

    let role = connect(&format!("postgres://waybill_search:{ROLE_PASSWORD}@{place}/{name}")).await;
    migrations::check(&role, Schema::Search).await.unwrap();
    assert!(role.batch_execute("CREATE TEMPORARY TABLE made (a int)").await.is_err());
    assert!(role.batch_execute("CREATE TABLE public.made (a int)").await.is_err());
    let owners: Vec<String> = admin
        .query(
            "SELECT DISTINCT tableowner::text FROM pg_tables WHERE schemaname = ANY($1)",
            &[&vec!["export", "outbox", "search", "stats", "notify"]],
        )
        .await
        .unwrap()
        .iter()
        .map(|row| row.get(0))
        .collect();
    assert_eq!(owners, ["waybill_owner"]);
    drop(admin);
    drop_database(&name).await;
    server.batch_execute(&format!("DROP ROLE {owner}")).await.unwrap();
}

#[tokio::test]
async fn a_version_that_is_not_known_is_refused_whether_older_newer_or_missing() {
    let name = empty_database("versions", None).await;
    let mut admin = connect(&url_of(&name)).await;
    let missing = migrations::check(&admin, Schema::Search).await.unwrap_err();
    assert!(matches!(missing, MigrationError::OtherVersion { stored: 0, .. }), "{missing}");
    migrations::apply(&mut admin, &[Schema::Search], LOGINS).await.unwrap();
    migrations::check(&admin, Schema::Search).await.unwrap();
    let known = Schema::Search.latest();
    for (change, stored) in [
        (
            format!("UPDATE search.schema_history SET version = {} WHERE version = {known}", known + 1),
            known + 1,
        ),
        ("DELETE FROM search.schema_history WHERE version > 1".to_owned(), 1),
    ] {
        admin.batch_execute(&change).await.unwrap();
        let error = migrations::check(&admin, Schema::Search).await.unwrap_err();
        assert_eq!(error.code(), "schema-version-unknown");
        assert!(
            matches!(error, MigrationError::OtherVersion { stored: seen, .. } if seen == stored),
            "{error}"
        );
        if stored > known {
            assert!(migrations::apply(&mut admin, &[Schema::Search], LOGINS).await.is_err());
            admin.batch_execute("RESET ROLE").await.unwrap();
        }
    }
    drop_database(&name).await;
}

#[tokio::test]
async fn no_clear_password_reaches_the_server() {
    let database = TestDatabase::fresh().await;
    let mut admin = database.admin().await;
    migrations::apply(&mut admin, Schema::ALL, LOGINS).await.unwrap();
    let stored = "SELECT rolpassword LIKE 'SCRAM-SHA-256$%' FROM pg_authid WHERE rolname = 'waybill_relay'";
    assert!(admin.query_one(stored, &[]).await.unwrap().get::<_, bool>(0));
    connect(&database.role_url("relay")).await;
}
