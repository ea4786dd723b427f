//! How the outbox stands, and how it goes on after a restore, from the command line.

use serde_json::Value;
use waybill_contract::{Fact, Schemas, decode_fact};
use waybill_domain::job::{FactKind, JobState};
use waybill_testkit::{System, produce};

use crate::shell::{Shell, caller, text};

/// As after a dump was read into another server.
const ANOTHER_SERVER: &str = "UPDATE outbox.cursor SET system_identifier = '1', timeline = 1";

#[tokio::test]
async fn an_operator_sees_who_relays_what_waits_and_what_is_held() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let shell = Shell::at(&api, &system).await;
    let (ops, tenant, _) = caller(&system, &api, &shell).await;
    tenant.done(&["export", "create", "orders"]).await;
    let admin = system.database.admin().await;
    let held = "
        INSERT INTO outbox.holds (scope, topic, key, code, detail)
        VALUES ('key', 'shop.orders', 'a', 'relay-row-refused', 'too large');
        INSERT INTO outbox.parked
            (seq, hold_id, state, xid, topic, key, event_id, header_names, header_values, created_at, code)
        VALUES (101, 1, 'refused', '7', 'shop.orders', 'a', 'evt', '{}', '{}', now(), 'relay-row-refused');
        INSERT INTO outbox.topics (topic, topic_id) VALUES ('shop.orders', 'old')";
    admin.batch_execute(held).await.expect("held");

    let answer = ops.done(&["outbox", "status"]).await;
    let outbox = &answer["outboxes"][0];
    assert_eq!(
        (text(outbox, "outbox"), &outbox["holder"], &outbox["fence"]),
        ("main".into(), &Value::Null, &0.into())
    );
    assert_eq!((&outbox["waiting"]["rows"], &outbox["waiting"]["is_exact"]), (&2.into(), &true.into()));
    assert!(outbox["waiting"]["oldest_age_ms"].as_i64().is_some_and(|age| age >= 0), "{outbox}");
    assert_eq!(outbox["window"]["is_drained"], true);
    assert_eq!((&outbox["parked"]["refused"], &outbox["holds_standing"]), (&1.into(), &1.into()));
    assert_eq!(text(&outbox["holds"][0], "code"), "relay-row-refused");
    assert_eq!(outbox["partition_days_ahead"], 14);
    let said = ops.run(&["outbox", "status"]).await;
    assert!(String::from_utf8_lossy(&said.stdout).contains("  waiting     2 rows"), "{said:?}");
    assert_eq!(tenant.refused(&["outbox", "status"]).await, (4, "scope-missing".to_owned()));

    let accept =
        ["outbox", "accept-topic", "shop.orders", "--topic-id", "new", "--reason", "made again on purpose"];
    let would = ops.done(&[&accept[..], &["--dry-run"]].concat()).await;
    assert_eq!((text(&would, "topic_id"), text(&would["before"], "topic_id")), ("new".into(), "old".into()));
    ops.done(&accept).await;
    let row =
        admin.query_one("SELECT topic_id, decision_reason FROM outbox.topics", &[]).await.expect("a topic");
    assert_eq!(
        (row.get::<_, String>(0), row.get::<_, String>(1)),
        ("new".into(), "made again on purpose".into())
    );
    let nobody = ["outbox", "accept-topic", "shop.visits", "--topic-id", "new", "--reason", "a test"];
    assert_eq!(ops.refused(&nobody).await, (3, "topic-unrecorded".to_owned()));
}

/// The fact of the export's acceptance as it lies in the outbox, and another that follows it.
async fn facts(system: &System) -> [Fact; 2] {
    let sql =
        "SELECT header_names, header_values, payload FROM outbox.events WHERE topic LIKE '%export.events'";
    let row = system.database.admin().await.query_one(sql, &[]).await.expect("a fact");
    let (names, values): (Vec<String>, Vec<Option<Vec<u8>>>) = (row.get(0), row.get(1));
    let payload: Option<Vec<u8>> = row.get(2);
    let headers = names.iter().zip(&values).map(|(name, value)| (name.as_str(), value.as_deref()));
    let accepted = decode_fact(&schemas(), headers, payload.as_deref()).expect("a fact");
    let mut cancelled = Fact { event_id: "evt_lost".into(), kind: FactKind::Cancelled, ..accepted.clone() };
    cancelled.export.state = JobState::Cancelled;
    cancelled.export.version = 5;
    cancelled.export.finished_at = Some(cancelled.time);
    [accepted, cancelled]
}

fn schemas() -> Schemas {
    Schemas::embedded().expect("the schemas")
}

#[tokio::test]
async fn a_rebase_says_what_it_would_send_and_which_facts_are_lost_and_then_does_it() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let shell = Shell::at(&api, &system).await;
    let (ops, tenant, _) = caller(&system, &api, &shell).await;
    let export_id = text(&tenant.done(&["export", "create", "orders"]).await, "export_id");
    for fact in facts(&system).await {
        let message = fact.encode(&schemas()).expect("encoded");
        let headers: Vec<(&str, Option<&[u8]>)> =
            message.headers.iter().map(|(name, value)| (name.as_str(), value.as_deref())).collect();
        produce(
            &system.topic("waybill.export.events"),
            0,
            Some(&message.key),
            &headers,
            Some(&message.payload),
        )
        .await;
    }
    let admin = system.database.admin().await;
    let rebase = ["outbox", "rebase", "--reason", "restored to 03:00"];
    admin
        .batch_execute(
            "UPDATE outbox.cursor SET (system_identifier, timeline) =
        (SELECT system_identifier, timeline FROM outbox.server_identity())",
        )
        .await
        .expect("a relay was here");
    assert_eq!(ops.refused(&rebase).await, (4, "rebase-not-needed".to_owned()));
    admin.batch_execute(ANOTHER_SERVER).await.expect("another server's");

    let would = ops.done(&[&rebase[..], &["--dry-run"]].concat()).await;
    assert_eq!((text(&would, "way"), &would["dry_run"]), ("resend".into(), &true.into()));
    let rows: i64 = would["sent_first"]
        .as_array()
        .expect("topics")
        .iter()
        .filter_map(|topic| topic["rows"].as_i64())
        .sum();
    assert_eq!(rows, 2, "the command and the fact: {would}");
    let log = &would["log"];
    assert_eq!(
        (&log["read"], &log["unknown"], text(&log["facts"][0], "id")),
        (&2.into(), &1.into(), "evt_lost".into())
    );
    assert_eq!(
        (
            text(&log["exports"][0], "export_id"),
            &log["exports"][0]["log_version"],
            &log["exports"][0]["version"]
        ),
        (export_id.clone(), &5.into(), &1.into())
    );
    let version = async || {
        let sql = "SELECT version FROM export.jobs WHERE export_id = $1";
        admin.query_one(sql, &[&export_id]).await.expect("a version").get::<_, i64>(0)
    };
    assert_eq!(version().await, 1, "a dry run leaves nothing");
    let said = ops.run(&[&rebase[..], &["--dry-run"]].concat()).await;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("the versions of 1 exports would be raised"), "{said}");

    let done = ops.done(&rebase).await;
    assert_eq!((text(&done, "way"), &done["fence"]), ("resend".into(), &1.into()));
    assert_eq!(version().await, 5, "the next fact is beyond what the log holds");
    let recorded = "SELECT count(*) FROM export.decisions WHERE action = 'outbox.rebase' AND reason = 'restored to 03:00'";
    assert_eq!(admin.query_one(recorded, &[]).await.expect("a decision").get::<_, i64>(0), 1);
    assert_eq!(ops.refused(&rebase).await, (4, "rebase-not-needed".to_owned()), "once is enough");
}
