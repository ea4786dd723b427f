//! `waybill outbox install`, and what it gives to whom.

use serde_json::Value;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;
use waybill_outbox::upkeep;
use waybill_testkit::{Launch, ROLE_PASSWORD, TestTopics, eventually};

use crate::fixtures::{OPERATOR, READER, RELAY, SCHEMA, Team, WRITER, event, install_at, outbox, said};

#[tokio::test]
async fn installing_again_changes_nothing_and_a_dry_run_changes_nothing_at_all() {
    let team = Team::without_outbox().await;
    let wanted = ["--schema", SCHEMA, "--writer", WRITER, "--json"];
    let planned = team.install(&[&wanted[..], &["--dry-run"]].concat()).await;
    let plan: Value = serde_json::from_slice(&planned.stdout).expect("JSON");
    assert_eq!((plan["from"].as_i64(), plan["dry_run"].as_bool()), (Some(0), Some(true)));
    assert_eq!(team.count("pg_namespace WHERE nspname = 'shop_outbox'").await, 0);

    for from in [0, plan["to"].as_i64().expect("a version")] {
        let installed = team.install(&wanted).await;
        assert!(installed.status.success(), "{}", said(&installed));
        let report: Value = serde_json::from_slice(&installed.stdout).expect("JSON");
        assert_eq!(report["from"].as_i64(), Some(from));
        assert_eq!(report["to"], plan["to"]);
        outbox().append(&team.writer().await, &event("t", "k", "e")).await.expect("appended");
    }
    assert_eq!(team.count(&format!("{SCHEMA}.events")).await, 2, "what was there stays");
    let url = team.database.admin_url();
    let (_, password) = url.split_once('@').and_then(|(login, _)| login.rsplit_once(':')).expect("a login");
    assert!(!said(&planned).contains(password), "no password is shown");
}

#[tokio::test]
async fn what_no_installation_put_there_is_refused_and_left_alone() {
    let team = Team::without_outbox().await;
    team.run("CREATE SCHEMA theirs; CREATE TABLE theirs.things (n integer)").await;
    let refused = [
        (team.install(&["--schema", "theirs"]).await, 4, "outbox-schema-foreign"),
        (team.install(&["--schema", "Mine"]).await, 2, "usage"),
        (team.install(&["--schema", "x\"; DROP SCHEMA theirs"]).await, 2, "usage"),
        (team.install(&["--schema", SCHEMA, "--writer", "no_such_role"]).await, 4, "outbox-role-missing"),
        (install_at(&team.product.admin_url(), &["--schema", "outbox"]).await, 4, "outbox-schema-foreign"),
        (install_at(&team.product.admin_url(), &["--schema", "stats"]).await, 4, "outbox-schema-foreign"),
        (
            install_at("postgres://nobody@127.0.0.1:1/none", &["--schema", SCHEMA]).await,
            5,
            "database-unreachable",
        ),
    ];
    for (output, exit, code) in refused {
        assert_eq!(output.status.code(), Some(exit), "{}", said(&output));
        assert!(said(&output).contains(code), "{code}: {}", said(&output));
    }
    let schemas =
        "pg_namespace WHERE nspname NOT LIKE 'pg\\_%' AND nspname NOT IN ('public', 'information_schema')";
    assert_eq!(team.count(schemas).await, 1, "only theirs");
    assert_eq!(team.count("pg_class WHERE relnamespace = 'theirs'::regnamespace").await, 1);
}

#[tokio::test]
async fn a_relay_may_do_in_an_installed_outbox_what_the_products_own_may_in_its() {
    let team = Team::with_outbox().await;
    let product = team.product.admin().await;
    let granted = "
        SELECT c.relname || ' ' || privilege_type
        FROM pg_class AS c, aclexplode(c.relacl)
        WHERE c.relnamespace = to_regnamespace($1) AND grantee = 'waybill_relay'::regrole
        UNION
        SELECT c.relname || '.' || a.attname || ' ' || privilege_type
        FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid, aclexplode(a.attacl)
        WHERE c.relnamespace = to_regnamespace($1) AND grantee = 'waybill_relay'::regrole
        UNION
        SELECT p.proname || ' ' || privilege_type
        FROM pg_proc AS p, aclexplode(p.proacl)
        WHERE p.pronamespace = to_regnamespace($1) AND grantee = 'waybill_relay'::regrole
        ORDER BY 1";
    let lines = |rows: Vec<tokio_postgres::Row>| rows.iter().map(|row| row.get(0)).collect::<Vec<String>>();
    let own = lines(product.query(granted, &[&"outbox"]).await.expect("the catalog answers"));
    let installed = lines(team.owner.query(granted, &[&SCHEMA]).await.expect("the catalog answers"));
    assert!(!own.is_empty());
    let missing: Vec<_> = own.iter().filter(|line| !installed.contains(line)).collect();
    assert!(missing.is_empty(), "migrations/outbox_grants/relay.sql lacks {missing:?}");
}

#[tokio::test]
async fn each_part_may_do_its_own_and_no_more() {
    let team = Team::with_outbox().await;
    let reader = team.database.role("search").await;
    assert_eq!(READER, "waybill_search");
    let seen =
        reader.query_one(&format!("SELECT count(*) FROM {SCHEMA}.events"), &[]).await.expect("it may look");
    assert_eq!(seen.get::<_, i64>(0), 0);
    for statement in [
        format!(
            "INSERT INTO {SCHEMA}.events (topic, event_id, header_names, header_values) VALUES ('t', 'e', '{{}}', '{{}}')"
        ),
        format!("UPDATE {SCHEMA}.cursor SET after_seq = 1"),
        format!("SELECT {SCHEMA}.drop_relayed(14)"),
    ] {
        let refused = reader.batch_execute(&statement).await.expect_err("it may not change anything");
        assert_eq!(refused.code(), Some(&SqlState::INSUFFICIENT_PRIVILEGE), "{statement}");
    }
    let relay = team.database.role("relay").await;
    relay.batch_execute(&format!("SET search_path = {SCHEMA}")).await.expect("set");
    relay
        .batch_execute("BEGIN")
        .await
        .expect("one transaction, so that no midnight passes between the counts");
    let ahead = upkeep::days_ahead(&relay).await.expect("a count");
    let made = upkeep::ensure_partitions(&relay, 20).await.expect("it keeps the outbox in shape");
    assert_eq!(i64::from(made), 2 * (20 - ahead), "events and batches of each day");
    assert_eq!(upkeep::days_ahead(&relay).await.expect("a count"), 20);
    relay.batch_execute("COMMIT").await.expect("committed");
    upkeep::drop_relayed(&relay, 14).await.expect("it may drop what was relayed");
    let refused = outbox().append(&relay, &event("t", "k", "e")).await;
    assert!(refused.is_err(), "a relay writes no event");
}

/// What an operator is granted: a line each, as the catalog has it.
const OPERATORS: [&str; 12] = [
    "insert decisions(action, subject, reason)",
    "select batches",
    "select cursor",
    "select decisions",
    "select events(seq, xid, created_at)",
    "select holds",
    "select parked",
    "select schema_history",
    "select topics",
    "update holds(resume_requested_at)",
    "update parked(state, decided_by, decided_at, decision_reason)",
    "update topics(topic_id, recorded_at, decided_by, decision_reason)",
];

#[tokio::test]
async fn an_operator_is_granted_what_its_commands_need_and_not_a_column_more() {
    let team = Team::with_outbox().await;
    let granted = "
        SELECT lower(privilege_type) || ' ' || c.relname AS line
        FROM pg_class AS c, aclexplode(c.relacl)
        WHERE c.relnamespace = to_regnamespace($1) AND grantee = to_regrole($2)
        UNION ALL
        SELECT format('%s %s(%s)', lower(privilege_type), c.relname, string_agg(a.attname, ', ' ORDER BY a.attnum))
        FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid, aclexplode(a.attacl)
        WHERE c.relnamespace = to_regnamespace($1) AND grantee = to_regrole($2)
        GROUP BY privilege_type, c.relname
        UNION ALL
        SELECT lower(privilege_type) || ' ' || p.proname
        FROM pg_proc AS p, aclexplode(p.proacl)
        WHERE p.pronamespace = to_regnamespace($1) AND grantee = to_regrole($2)
        ORDER BY line";
    let rows = team.owner.query(granted, &[&SCHEMA, &OPERATOR]).await.expect("the catalog answers");
    let lines: Vec<String> = rows.iter().map(|row| row.get("line")).collect();
    assert_eq!(lines, OPERATORS);
}

#[tokio::test]
async fn an_operator_signs_no_other_name_and_neither_reads_ahead_nor_moves_the_cursor() {
    let team = Team::with_outbox().await;
    let operator = team.database.role("stats").await;
    assert_eq!(OPERATOR, "waybill_stats");
    operator.batch_execute(&format!("SET search_path = {SCHEMA}")).await.expect("set");
    for statement in [
        "INSERT INTO decisions (action, subject, reason, decided_by) VALUES ('a', 's', 'r', 'sva_1')",
        "INSERT INTO decisions (action, subject, reason, decided_at) VALUES ('a', 's', 'r', now())",
        "UPDATE decisions SET reason = 'another'",
        "DELETE FROM decisions",
        "DELETE FROM parked",
        "UPDATE parked SET payload = NULL",
        "SELECT payload FROM events",
        "INSERT INTO events (topic, event_id, header_names, header_values) VALUES ('t', 'e', '{}', '{}')",
        "UPDATE cursor SET after_seq = 1",
        "SELECT outbox_append('t', NULL, 'e', NULL, NULL, NULL)",
        "SELECT drop_relayed(14)",
        "SET SESSION AUTHORIZATION waybill_relay",
    ] {
        let refused = operator.batch_execute(statement).await.expect_err(statement);
        assert_eq!(refused.code(), Some(&SqlState::INSUFFICIENT_PRIVILEGE), "{statement}");
    }
    let recorded =
        "INSERT INTO decisions (action, subject, reason) VALUES ('a', 's', 'r') RETURNING decided_by";
    let signed: String = operator.query_one(recorded, &[]).await.expect("it may decide").get(0);
    assert_eq!(signed, "postgres:waybill_stats");
}

#[tokio::test]
async fn an_operator_who_decides_by_hand_signs_no_other_name_and_turns_nothing_back_that_is_settled() {
    let team = Team::with_outbox().await;
    let seed = format!(
        "SET search_path = {SCHEMA};
         INSERT INTO holds (scope, topic, key, code, detail) VALUES ('key', 't', 'k', 'code', '');
         INSERT INTO parked
             (seq, hold_id, state, xid, topic, event_id, header_names, header_values, created_at, code, sent_at)
         SELECT n, 1, state, '5', 't', 'e', '{{}}', '{{}}', now(), 'code', CASE state WHEN 'sent' THEN now() END
         FROM unnest(ARRAY['refused', 'refused', 'waiting', 'sent']) WITH ORDINALITY AS row (state, n);
         INSERT INTO topics (topic, topic_id) VALUES ('t', 'old')"
    );
    team.run(&seed).await;
    let operator = team.database.role("stats").await;
    operator.batch_execute(&format!("SET search_path = {SCHEMA}")).await.expect("set");
    for decided in [
        "UPDATE parked SET state = 'discarded', decided_by = 'postgres:alice', decided_at = '2001-01-01',
             decision_reason = 'r' WHERE seq = 1",
        "UPDATE parked SET state = 'waiting', decision_reason = 'r' WHERE seq = 2",
        "UPDATE parked SET decided_by = 'sva_1', decision_reason = 'r' WHERE seq = 3",
        "UPDATE topics SET topic_id = 'new', decided_by = 'sva_1', decision_reason = 'r' WHERE topic = 't'",
    ] {
        assert_eq!(operator.execute(decided, &[]).await.expect(decided), 1);
    }
    let signed = "decided_by = 'postgres:waybill_stats'";
    let parked = format!("parked WHERE {signed} AND decided_at > now() - interval '1 hour'");
    assert_eq!((team.count(&parked).await, team.count(&format!("topics WHERE {signed}")).await), (3, 1));
    for turned_back in [
        "UPDATE parked SET state = 'waiting' WHERE seq = 1",
        "UPDATE parked SET decision_reason = 'another' WHERE seq = 1",
        "UPDATE parked SET state = 'sent' WHERE seq = 1",
        "UPDATE parked SET state = 'refused' WHERE seq = 4",
        "UPDATE parked SET decided_by = 'sva_1' WHERE seq = 4",
    ] {
        breaks_integrity(&operator, turned_back).await;
    }
}

/// The statement is refused because of what stands in the tables, and not for a privilege that is missing.
async fn breaks_integrity(db: &Client, statement: &str) {
    let refused = db.execute(statement, &[]).await.expect_err(statement);
    let code = refused.code().map(SqlState::code).unwrap_or_default();
    assert!(code.starts_with("23"), "{statement}: {refused:?}");
}

#[tokio::test]
async fn a_name_comes_to_stand_beside_no_reason_of_another_and_only_a_relay_says_that_a_row_is_refused() {
    let team = Team::with_outbox().await;
    let seed = format!(
        "SET search_path = {SCHEMA};
         INSERT INTO holds (scope, topic, key, code, detail) VALUES ('key', 't', 'k', 'code', '');
         INSERT INTO parked
             (seq, hold_id, state, xid, topic, event_id, header_names, header_values, created_at, code,
              decided_by, decided_at, decision_reason)
         SELECT n, 1, state, '5', 't', 'e', '{{}}', '{{}}', now(), 'code', 'postgres:alice', '2001-01-01', 'hers'
         FROM unnest(ARRAY['refused', 'waiting']) WITH ORDINALITY AS row (state, n);
         INSERT INTO topics (topic, topic_id, decided_by, decision_reason)
         VALUES ('t', 'old', 'postgres:alice', 'hers')"
    );
    team.run(&seed).await;
    let operator = team.database.role("stats").await;
    operator.batch_execute(&format!("SET search_path = {SCHEMA}")).await.expect("set");
    for left_out in [
        "UPDATE parked SET state = 'waiting' WHERE seq = 1",
        "UPDATE parked SET state = 'discarded', decided_by = 'postgres:bob' WHERE seq = 1",
        "UPDATE parked SET state = 'waiting', decision_reason = ' ' WHERE seq = 1",
        "UPDATE topics SET topic_id = 'new' WHERE topic = 't'",
        "UPDATE parked SET state = 'refused' WHERE seq = 2",
    ] {
        breaks_integrity(&operator, left_out).await;
    }
    assert_eq!(team.count("parked WHERE decided_by = 'postgres:alice'").await, 2);
    let again =
        "UPDATE parked SET state = 'waiting', decided_at = now(), decision_reason = 'hers' WHERE seq = 1";
    assert_eq!(operator.execute(again, &[]).await.expect("the same words, given anew"), 1);

    let relay = team.database.role("relay").await;
    assert_eq!(RELAY, "waybill_relay");
    relay.batch_execute(&format!("SET search_path = {SCHEMA}")).await.expect("set");
    assert_eq!(relay.execute("UPDATE parked SET state = 'refused'", &[]).await.expect("it says so"), 2);
    for signed in [
        "UPDATE parked SET decided_by = 'postgres:alice'",
        "UPDATE topics SET decided_by = 'postgres:alice'",
        "INSERT INTO parked
             (seq, hold_id, state, xid, topic, event_id, header_names, header_values, created_at, decided_by)
         VALUES (3, 1, 'waiting', '5', 't', 'e', '{}', '{}', now(), 'postgres:alice')",
    ] {
        let refused = relay.execute(signed, &[]).await.expect_err(signed);
        assert_eq!(refused.code(), Some(&SqlState::INSUFFICIENT_PRIVILEGE), "{signed}");
    }
}

#[tokio::test]
async fn an_owner_who_is_no_superuser_and_may_only_make_schemas_can_install() {
    let team = Team::without_outbox().await;
    team.run(&format!("GRANT CREATE ON DATABASE {} TO waybill_worker", team.database.name())).await;
    let url = team.database.role_url("worker");
    for _ in 0..2 {
        let installed = install_at(&url, &["--schema", SCHEMA, "--writer", WRITER, "--relay", RELAY]).await;
        assert!(installed.status.success(), "{}", said(&installed));
    }
    outbox().append(&team.writer().await, &event("t", "k", "e")).await.expect("appended");
}

#[tokio::test]
async fn the_doctor_says_of_each_configured_outbox_how_it_is() {
    let team = Team::with_outbox().await;
    let settings = team
        .settings(&TestTopics::fresh())
        .set("relay.outboxes.away.url", "postgres://127.0.0.1:1/away")
        .set("relay.outboxes.away.schema", "outbox")
        .set("relay.outboxes.away.user", "nobody")
        .set("relay.outboxes.forgotten.url", team.database.plain_url())
        .set("relay.outboxes.forgotten.schema", "never_installed")
        .set("relay.outboxes.forgotten.user", RELAY)
        .set("relay.outboxes.forgotten.password", ROLE_PASSWORD);
    let doctor = Launch::command(&["doctor"], settings).start();
    doctor.wait_over().await;
    for wanted in [
        "ok    outbox shop: shop_outbox, 14 days of partitions ahead",
        "FAIL  outbox away: cannot connect",
        "FAIL  outbox forgotten: the outbox in schema `never_installed` has version 0",
    ] {
        let said = async || doctor.log().lines().iter().any(|line| line.starts_with(wanted)).then_some(());
        eventually(wanted, said).await;
    }
}
