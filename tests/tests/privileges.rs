//! Each role can do in Postgres what it must, and nothing more.

use std::collections::BTreeSet;

use tokio_postgres::Client;
use tokio_postgres::error::SqlState;
use waybill_testkit::{ROLES, TestDatabase};

/// Runs a statement, undoes it, and says whether the role was let through.
async fn may(client: &Client, statement: &str) -> bool {
    client.batch_execute("BEGIN").await.expect("a transaction begins");
    let outcome = client.batch_execute(statement).await;
    client.batch_execute("ROLLBACK").await.expect("and ends");
    match outcome {
        Ok(()) => true,
        Err(error) if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => false,
        // Refused for another reason, such as a constraint: the privilege was there.
        Err(error) => {
            let code = error.code().unwrap_or_else(|| panic!("{statement}: {error:?}"));
            code.code().starts_with("23") || panic!("{statement}: {error:?}")
        }
    }
}

async fn tables(database: &TestDatabase, schema: &str) -> Vec<String> {
    let sql = "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname = $1";
    let rows = database.admin().await.query(sql, &[&schema]).await.expect("the catalog answers");
    assert!(!rows.is_empty(), "{schema} has no tables");
    rows.iter().map(|row| row.get(0)).collect()
}

/// The roles that hold this privilege on the table or on any of its columns.
async fn holders(database: &TestDatabase, table: &str, privilege: &str) -> BTreeSet<String> {
    let sql = "SELECT r FROM unnest($1::text[]) AS r
               WHERE has_table_privilege('waybill_' || r, $2, $3)
                  OR CASE WHEN $3 IN ('INSERT', 'UPDATE') THEN has_any_column_privilege('waybill_' || r, $2, $3) END";
    let roles: Vec<&str> = ROLES.to_vec();
    let rows =
        database.admin().await.query(sql, &[&roles, &table, &privilege]).await.expect("the catalog answers");
    rows.iter().map(|row| row.get(0)).collect()
}

fn set(roles: &[&str]) -> BTreeSet<String> {
    roles.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn search_can_neither_read_nor_write_a_notification() {
    let database = TestDatabase::fresh().await;
    let search = database.role("search").await;
    for table in tables(&database, "notify").await {
        for statement in [
            format!("SELECT * FROM {table}"),
            format!("DELETE FROM {table}"),
            format!("TRUNCATE {table}"),
            format!("INSERT INTO {table} DEFAULT VALUES"),
            format!("COPY {table} TO STDOUT"),
        ] {
            assert!(!may(&search, &statement).await, "search may {statement}");
        }
    }
}

#[tokio::test]
async fn only_the_notifier_writes_notifications() {
    let database = TestDatabase::fresh().await;
    for table in tables(&database, "notify").await {
        for privilege in ["INSERT", "UPDATE", "DELETE", "TRUNCATE"] {
            let mut holders = holders(&database, &table, privilege).await;
            holders.remove("notifier");
            assert_eq!(holders, set(&[]), "{privilege} on {table}");
        }
    }
}

#[tokio::test]
async fn an_outbox_row_is_written_once_and_never_again() {
    let database = TestDatabase::fresh().await;
    for privilege in ["UPDATE", "DELETE", "TRUNCATE"] {
        assert_eq!(holders(&database, "outbox.events", privilege).await, set(&[]), "{privilege}");
    }
    assert_eq!(holders(&database, "outbox.events", "INSERT").await, set(&["api", "worker", "reconciler"]));
    assert_eq!(holders(&database, "outbox.cursor", "UPDATE").await, set(&["relay"]));
}

#[tokio::test]
async fn each_projection_is_written_by_its_own_service_alone() {
    let database = TestDatabase::fresh().await;
    for (schema, owner) in [("search", "search"), ("stats", "stats")] {
        for table in tables(&database, schema).await {
            for privilege in ["INSERT", "UPDATE", "DELETE", "TRUNCATE"] {
                let mut holders = holders(&database, &table, privilege).await;
                holders.remove(owner);
                assert_eq!(holders, set(&[]), "{privilege} on {table}");
            }
        }
    }
}

#[tokio::test]
async fn nobody_deletes_or_truncates_anything() {
    let database = TestDatabase::fresh().await;
    for schema in ["export", "outbox", "search", "stats", "notify"] {
        for table in tables(&database, schema).await {
            for privilege in ["DELETE", "TRUNCATE"] {
                assert_eq!(holders(&database, &table, privilege).await, set(&[]), "{privilege} on {table}");
            }
        }
    }
}

#[tokio::test]
async fn no_role_can_change_the_schema() {
    let database = TestDatabase::fresh().await;
    for role in ROLES {
        let client = database.role(role).await;
        let mut statements = vec![
            "CREATE TABLE public.made (a int)".to_owned(),
            "CREATE TEMPORARY TABLE made (a int)".to_owned(),
            "CREATE SCHEMA made".to_owned(),
        ];
        for schema in ["export", "outbox", "search", "stats", "notify"] {
            statements.push(format!("CREATE TABLE {schema}.made (a int)"));
            statements
                .push(format!("CREATE FUNCTION {schema}.made() RETURNS int LANGUAGE sql AS 'SELECT 1'"));
            statements.push(format!("DROP SCHEMA {schema} CASCADE"));
            for table in tables(&database, schema).await {
                statements.push(format!("ALTER TABLE {table} ADD COLUMN made int"));
                statements.push(format!("DROP TABLE {table}"));
            }
        }
        for statement in statements {
            assert!(!may(&client, &statement).await, "{role} may {statement}");
        }
    }
}

#[tokio::test]
async fn the_reconciler_makes_partitions_by_the_one_function_that_may_and_nobody_else_does() {
    let database = TestDatabase::fresh().await;
    for role in ROLES {
        let let_through = may(&database.role(role).await, "SELECT outbox.ensure_partitions(20)").await;
        assert_eq!(let_through, role == "reconciler", "{role}");
    }
}

#[tokio::test]
async fn a_role_reaches_only_the_schemas_that_it_works_in() {
    let database = TestDatabase::fresh().await;
    let works_in = [
        ("export", set(&["api", "worker", "reconciler"])),
        ("outbox", set(&["api", "worker", "reconciler", "relay"])),
        ("search", set(&["api", "search"])),
        ("stats", set(&["api", "stats"])),
        ("notify", set(&["api", "notifier"])),
    ];
    let admin = database.admin().await;
    for (schema, expected) in works_in {
        let sql =
            "SELECT r FROM unnest($1::text[]) AS r WHERE has_schema_privilege('waybill_' || r, $2, 'USAGE')";
        let roles: Vec<&str> = ROLES.to_vec();
        let rows = admin.query(sql, &[&roles, &schema]).await.expect("the catalog answers");
        let found: BTreeSet<String> = rows.iter().map(|row| row.get(0)).collect();
        assert_eq!(found, expected, "USAGE on {schema}");
    }
}

/// Every privilege of every role that logs in, a line each: `role privilege object(columns)`.
async fn granted(database: &TestDatabase) -> String {
    let sql = "
        SELECT format('%s %s %I.%I', grantee::regrole, lower(privilege_type), n.nspname, c.relname) AS line
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace, aclexplode(c.relacl)
        WHERE grantee::regrole::text LIKE 'waybill\\_%' AND grantee::regrole::text <> 'waybill_owner'
        UNION ALL
        SELECT format('%s %s %I.%I(%s)', grantee::regrole, lower(privilege_type), n.nspname, c.relname,
                      string_agg(a.attname, ', ' ORDER BY a.attnum))
        FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace,
             aclexplode(a.attacl)
        WHERE grantee::regrole::text LIKE 'waybill\\_%'
        GROUP BY grantee, privilege_type, n.nspname, c.relname
        UNION ALL
        SELECT format('%s execute %I.%I', grantee::regrole, n.nspname, p.proname)
        FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace, aclexplode(p.proacl)
        WHERE grantee::regrole::text LIKE 'waybill\\_%' AND grantee::regrole::text <> 'waybill_owner'
        ORDER BY line";
    let rows = database.admin().await.query(sql, &[]).await.expect("the catalog answers");
    rows.iter().map(|row| format!("{}\n", row.get::<_, String>("line"))).collect()
}

#[tokio::test]
async fn the_privileges_of_every_role_are_exactly_the_ones_that_were_agreed_upon() {
    let found = granted(&TestDatabase::fresh().await).await;
    let agreed = include_str!("privileges.txt");
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    let (more, less): (Vec<_>, Vec<_>) = (
        lines(&found).difference(&lines(agreed)).cloned().collect(),
        lines(agreed).difference(&lines(&found)).cloned().collect(),
    );
    assert!(
        more.is_empty() && less.is_empty(),
        "granted and not in tests/tests/privileges.txt: {more:#?}\nthere and not granted: {less:#?}"
    );
}
