//! What an operator sees of rows that Kafka did not take, and decides about them.

use serde_json::{Value, json};
use waybill_testkit::{System, eventually};

use crate::shell::{Shell, caller, text};

/// A refused row with two behind it, a refused one without a key, and a topic that is held with two.
pub(crate) const PARKED: &str = "
    INSERT INTO outbox.holds (scope, topic, key, code, detail) VALUES
        ('key', 'shop.orders', 'a', 'relay-row-refused', 'too large'),
        ('row', 'shop.orders', NULL, 'relay-row-refused', 'too large'),
        ('topic', 'shop.visits', NULL, 'relay-topic-missing', 'no such topic');
    INSERT INTO outbox.parked
        (seq, hold_id, state, xid, topic, key, event_id, header_names, header_values, payload, created_at, code, detail,
        refusals)
    VALUES
        (101, 1, 'refused', '7', 'shop.orders', 'a', 'evt-1', '{ce_id,blob}', ARRAY['evt-1'::bytea, '\\xff'], 'value', now(),
            'relay-row-refused', 'of 2,000,000 bytes', 1),
        (102, 1, 'waiting', '7', 'shop.orders', 'a', 'evt-2', '{}', '{}', NULL, now(), NULL, NULL, 0),
        (103, 1, 'waiting', '7', 'shop.orders', 'a', 'evt-3', '{}', '{}', '', now(), NULL, NULL, 0),
        (110, 2, 'refused', '7', 'shop.orders', NULL, 'evt-4', '{}', '{}', 'x', now(), 'relay-row-refused', 'strange', 1),
        (120, 3, 'waiting', '7', 'shop.visits', 'b', 'evt-5', '{}', '{}', 'x', now(), NULL, NULL, 0),
        (121, 3, 'waiting', '7', 'shop.visits', 'c', 'evt-6', '{}', '{}', 'x', now(), NULL, NULL, 0)";

async fn number(system: &System, sql: &str) -> i64 {
    system.database.admin().await.query_one(sql, &[]).await.expect("a number").get(0)
}

pub(crate) fn seqs(answer: &Value) -> Vec<i64> {
    answer["parked"].as_array().expect("a list").iter().filter_map(|row| row["seq"].as_i64()).collect()
}

async fn house() -> (System, waybill_testkit::Process, Shell, Shell) {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let shell = Shell::at(&api, &system).await;
    let (ops, tenant, _) = caller(&system, &api, &shell).await;
    system.database.admin().await.batch_execute(PARKED).await.expect("parked");
    (system, api, ops, tenant)
}

#[tokio::test]
async fn an_operator_finds_what_is_parked_and_why() {
    let (_system, _api, ops, tenant) = house().await;
    assert_eq!(seqs(&ops.done(&["parked", "list"]).await), [101, 102, 103, 110, 120, 121]);
    assert_eq!(seqs(&ops.done(&["parked", "list", "--state", "refused"]).await), [101, 110]);
    assert_eq!(seqs(&ops.done(&["parked", "list", "--topic", "shop.visits"]).await), [120, 121]);
    assert_eq!(seqs(&ops.done(&["parked", "list", "--code", "relay-topic-missing"]).await), [120, 121]);
    assert_eq!(seqs(&ops.done(&["parked", "list", "--state", "discarded"]).await), [0; 0]);
    let first = ops.done(&["parked", "list", "--limit", "2"]).await;
    assert_eq!((seqs(&first), text(&first, "next")), (vec![101, 102], "1.102".to_owned()));

    let row = ops.done(&["parked", "show", "101"]).await;
    assert_eq!((text(&row, "key"), text(&row, "payload")), ("YQ==".into(), "dmFsdWU=".into()));
    assert_eq!(
        row["headers"],
        json!([{ "name": "ce_id", "value": "evt-1" }, { "name": "blob", "value_base64": "/w==" }])
    );
    assert_eq!((&row["behind"], &row["payload_truncated"]), (&2.into(), &false.into()));
    assert_eq!(
        (text(&row, "detail"), text(&row["hold"], "detail")),
        ("of 2,000,000 bytes".into(), "too large".into())
    );
    let tombstone = ops.done(&["parked", "show", "102"]).await;
    assert!(tombstone["payload"].is_null() && tombstone["payload_bytes"].is_null(), "{tombstone}");
    let empty = ops.done(&["parked", "show", "103"]).await;
    assert_eq!((&empty["payload"], &empty["payload_bytes"]), (&"".into(), &0.into()));
    assert_eq!(text(&empty, "code"), "relay-row-refused", "its hold's");

    assert_eq!(ops.refused(&["parked", "show", "7"]).await, (3, "parked-not-found".to_owned()));
    assert_eq!(tenant.refused(&["parked", "list"]).await, (4, "scope-missing".to_owned()));
    let said = ops.run(&["parked", "list"]).await;
    assert!(String::from_utf8_lossy(&said.stdout).starts_with("seq  state    scope  topic"), "{said:?}");
}

#[tokio::test]
async fn a_retry_lets_the_hold_go_on_and_nothing_overtakes_a_refused_row() {
    let (system, _api, ops, _) = house().await;
    let requested = "SELECT count(*) FROM outbox.holds WHERE resume_requested_at IS NOT NULL";
    let retry = |seq: &'static str| ["parked", "retry", seq, "--reason", "limit raised"];
    assert_eq!(ops.refused(&retry("102")).await, (4, "parked-behind".to_owned()));
    let would = ops.done(&[&retry("101")[..], &["--dry-run"]].concat()).await;
    assert_eq!(
        (text(&would, "state"), text(&would["before"], "state")),
        ("waiting".into(), "refused".into())
    );
    assert_eq!(number(&system, requested).await, 0, "a dry run leaves nothing");

    let retried = ops.done(&retry("101")).await;
    assert_eq!(
        (text(&retried, "state"), text(&retried, "decision_reason")),
        ("waiting".into(), "limit raised".into())
    );
    assert!(text(&retried, "decided_by").starts_with("sva_"), "{retried}");
    assert_eq!(number(&system, requested).await, 1);
    assert_eq!(text(&ops.done(&retry("101")).await, "state"), "waiting", "the same again is no error");
    let decided = "SELECT count(*) FROM export.decisions WHERE action = 'parked.retry' AND subject = '101'";
    assert_eq!(number(&system, decided).await, 2);

    let all = ["parked", "retry", "--code", "relay-row-refused", "--reason", "limit raised"];
    let done = ops.done(&all).await;
    assert_eq!((&done["rows"], &done["holds"], &done["more"]), (&1.into(), &1.into(), &false.into()));
    let topic = ops.done(&["parked", "retry", "--topic", "shop.visits", "--reason", "made"]).await;
    assert_eq!((&topic["rows"], &topic["holds"]), (&0.into(), &1.into()), "its rows wait already");
    assert_eq!(number(&system, requested).await, 3);
}

#[tokio::test]
async fn what_is_discarded_is_kept_with_its_reason_and_stays_so() {
    let (system, _api, ops, _) = house().await;
    let discard = ["parked", "discard", "101", "--reason", "written by a test"];
    let discarded = ops.done(&discard).await;
    assert_eq!((text(&discarded, "state"), &discarded["behind"]), ("discarded".into(), &2.into()));
    let signed = "SELECT count(*) FROM outbox.parked JOIN export.decisions ON principal = decided_by
        WHERE seq = 101 AND action = 'parked.discard' AND reason = decision_reason";
    assert_eq!(number(&system, signed).await, 1, "by the principal, and not by the api's login");
    assert_eq!(text(&ops.done(&discard).await, "state"), "discarded", "the same again is no error");
    let retry = ["parked", "retry", "101", "--reason", "needed after all"];
    assert_eq!(ops.refused(&retry).await, (4, "parked-settled".to_owned()));
    assert_eq!(seqs(&ops.done(&["parked", "list", "--state", "discarded"]).await), [101]);
    let goes_on = "SELECT count(*) FROM outbox.holds WHERE hold_id = 1 AND resume_requested_at IS NOT NULL";
    assert_eq!(number(&system, goes_on).await, 1, "what waits behind it is sent");

    let topic = ["parked", "discard", "--topic", "shop.visits", "--reason", "given up"];
    let would = ops.done(&[&topic[..], &["--dry-run"]].concat()).await;
    assert_eq!(would["rows"], 2);
    assert_eq!(seqs(&ops.done(&["parked", "list", "--topic", "shop.visits"]).await), [120, 121]);
    assert_eq!(ops.done(&topic).await["rows"], 2);
    assert_eq!(seqs(&ops.done(&["parked", "list", "--topic", "shop.visits"]).await), [0; 0]);
    let everything = ops.run(&["parked", "discard", "--reason", "all"]).await;
    assert_eq!(everything.status.code(), Some(2), "never everything");
}

#[tokio::test]
async fn the_running_relay_holds_a_topic_that_is_missing_and_an_operator_sees_it_and_discards_its_rows() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let _relay = system.start(&["relay"]);
    let shell = Shell::at(&api, &system).await;
    let (ops, _, _) = caller(&system, &api, &shell).await;
    let topic = system.topic("shop.nowhere");
    let insert = format!(
        "INSERT INTO outbox.events (topic, key, event_id, header_names, header_values) \
         SELECT '{topic}', 'k', 'evt-' || n, '{{}}', '{{}}' FROM generate_series(1, 3) AS n"
    );
    system.database.admin().await.batch_execute(&insert).await.expect("rows");

    let hold = eventually("the topic is held with its rows", async || {
        let outbox = ops.done(&["outbox", "status"]).await["outboxes"][0].take();
        (outbox["holds"][0]["waiting"] == 3).then_some(outbox)
    })
    .await;
    assert_eq!(text(&hold["holds"][0], "code"), "relay-topic-missing");
    assert!(
        text(&hold, "holder").starts_with("relay-") && hold["lease_remaining_ms"].as_i64() > Some(0),
        "{hold}"
    );
    assert_eq!(hold["waiting"]["rows"], 0, "the cursor has passed them");
    let discard = ["parked", "discard", "--topic", &topic, "--reason", "a topic that never was"];
    assert_eq!(ops.done(&discard).await["rows"], 3);
    let held = ops.done(&["outbox", "status"]).await["outboxes"][0].take();
    assert_eq!((&held["parked"]["refused"], &held["parked"]["waiting"]), (&0.into(), &0.into()));
    assert_eq!(
        seqs(&ops.done(&["parked", "list", "--state", "discarded", "--topic", &topic]).await).len(),
        3
    );
}
