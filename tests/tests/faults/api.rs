//! Row 2: the api dies between its commit and its reply. Row 3: the reply to its COMMIT is lost, or the COMMIT itself.
//! Row 5: every connection of its pool is held.

use std::time::{Duration, Instant};

use serde_json::json;
use waybill_testkit::{Caller, Launch, Loss, Proxy, System, base_url, eventually, id_of};

use crate::aftermath::{Aftermath, facts_are_in_order, occurrences, the_file_is_right};

#[tokio::test]
async fn an_api_killed_after_its_commit_and_before_its_reply_has_accepted_the_export_once() {
    let system = System::fresh().await;
    let steady = system.start(&["api"]);
    let operator = system.operator(&steady).await;
    let caller = system.tenant(&operator, "a tenant").await;

    let dying = system.start_at(&["api"], "api.committed");
    let unlucky = caller.at(base_url(&dying).await);
    let body = json!({ "dataset": "orders" });
    let (answered, ()) = tokio::join!(unlucky.ask_in_vain("intent-7", &body), async {
        dying.wait_stopped().await;
        dying.kill().await;
    });
    assert!(answered.is_err(), "the caller was answered by a process that died before it answered");

    let again = caller.ask("intent-7", &body).await;
    assert_eq!(again.status, 200, "the resend meets the export that was accepted: {}", again.json());
    let export_id = id_of(&again.json());

    let rest = system.start(&["relay", "worker", "search", "stats", "reconciler"]);
    assert_eq!(caller.settled(&export_id).await["state"], "succeeded", "{}", rest.log().tail());
    let after = Aftermath::of(&system, &export_id).await;
    after.downstreams_are_done().await;
    after.is_whole().await;
    assert_eq!(
        after.count("SELECT count(*) FROM export.jobs WHERE $1 <> ''").await,
        1,
        "one intent, one job"
    );
    assert_eq!(occurrences(&system, "waybill.export.commands", &export_id).await.len(), 1);
    facts_are_in_order(&system, &after).await;
    the_file_is_right(&caller, &export_id).await;
}

/// How a COMMIT leaves the driver: a simple query, which ends with a zero byte.
const COMMIT: &[u8] = b"COMMIT\0";

#[tokio::test]
async fn a_commit_whose_reply_is_lost_is_read_back_and_answered_as_what_it_did() {
    let system = System::fresh().await;
    let steady = system.start(&["api"]);
    let operator = system.operator(&steady).await;
    let caller = system.tenant(&operator, "a tenant").await;
    let proxy = Proxy::before(&system.database).await;
    let behind = Launch::roles(&["api"], system.settings().set("database.export.url", proxy.url())).start();
    let unlucky = caller.at(base_url(&behind).await);
    let body = json!({ "dataset": "orders" });

    proxy.lose(Loss::Answer, COMMIT);
    let (answer, ()) = tokio::join!(unlucky.ask("intent-7", &body), proxy.lost());
    assert_eq!(answer.status, 202, "{}: {}", answer.json(), behind.log().tail());
    let export_id = id_of(&answer.json());

    let again = unlucky.ask("intent-7", &body).await;
    assert_eq!((again.status.as_u16(), id_of(&again.json())), (200, export_id.clone()));
    accepted_once(&system, &export_id).await;
}

#[tokio::test]
async fn a_commit_that_never_arrived_is_answered_as_unknown_and_a_resend_accepts_the_export_once() {
    let system = System::fresh().await;
    let steady = system.start(&["api"]);
    let operator = system.operator(&steady).await;
    let caller = system.tenant(&operator, "a tenant").await;
    let proxy = Proxy::before(&system.database).await;
    let behind = Launch::roles(&["api"], system.settings().set("database.export.url", proxy.url())).start();
    let unlucky = caller.at(base_url(&behind).await);
    let body = json!({ "dataset": "orders" });

    proxy.lose(Loss::Message, COMMIT);
    let (answer, ()) = tokio::join!(unlucky.ask("intent-7", &body), proxy.lost());
    assert_eq!((answer.status.as_u16(), answer.code().as_str()), (503, "outcome-unknown"));
    assert!(answer.headers.contains_key("retry-after"), "{:?}", answer.headers);

    let again = unlucky.ask("intent-7", &body).await;
    assert_eq!(again.status, 202, "{}", again.json());
    accepted_once(&system, &id_of(&again.json())).await;
}

/// I1 and I2 of the only export that there is: one intent, one job, one command, one fact, and both in the outbox.
async fn accepted_once(system: &System, export_id: &str) {
    let after = Aftermath::of(system, export_id).await;
    for table in ["export.jobs", "export.intents", "export.commands", "export.facts"] {
        let of_export = format!("SELECT count(*) FROM {table} WHERE export_id = $1");
        let of_all = format!("SELECT count(*) FROM {table} WHERE $1 <> ''");
        assert_eq!((after.count(&of_export).await, after.count(&of_all).await), (1, 1), "{table}");
    }
    assert_eq!(after.count("SELECT count(*) FROM outbox.events WHERE key = convert_to($1, 'UTF8')").await, 2);
}

#[tokio::test]
async fn a_request_that_finds_every_connection_held_is_told_when_to_come_again_long_before_it_times_out() {
    const HELD: i64 = 4;
    let acquire = Duration::from_millis(500);
    let request = Duration::from_secs(50);
    let milliseconds = |duration: Duration| i64::try_from(duration.as_millis()).expect("few");
    let system = System::fresh()
        .await
        .with("worker.slots", 1)
        .with("database.export.pool_connections_max", HELD)
        .with("database.export.acquire_timeout_ms", milliseconds(acquire))
        .with("api.request_timeout_ms", milliseconds(request));
    let api = system.start(&["api"]);
    let operator = system.operator(&api).await;
    let caller = system.tenant(&operator, "a tenant").await;
    let (holder, observer) = (system.database.admin().await, system.database.admin().await);
    holder.batch_execute("BEGIN; LOCK TABLE export.intents").await.expect("locked");
    let holding = ["intent-1", "intent-2", "intent-3", "intent-4"]
        .map(|intent| tokio::spawn(ask(caller.clone(), intent)));
    let waiting = "SELECT count(*) FROM pg_stat_activity
                   WHERE datname = current_database() AND usename = 'waybill_api' AND wait_event_type = 'Lock'";
    eventually("every connection to be held", || async {
        let held: i64 = observer.query_one(waiting, &[]).await.expect("a count").get(0);
        (held == HELD).then_some(())
    })
    .await;

    let asked = Instant::now();
    let answer = caller.ask("intent-5", &json!({ "dataset": "orders" })).await;
    let waited = asked.elapsed();
    assert_eq!((answer.status.as_u16(), answer.code().as_str()), (503, "overloaded"), "{}", answer.json());
    assert!(answer.headers.contains_key("retry-after"), "{:?}", answer.headers);
    assert!(acquire <= waited && waited < request / 5, "after {waited:?}");

    holder.batch_execute("COMMIT").await.expect("let go");
    for held in holding {
        assert_eq!(held.await.expect("no panic"), 202, "who held a connection was only slow");
    }
    assert_eq!(ask(caller, "intent-5").await, 202);
}

async fn ask(caller: Caller, intent: &str) -> u16 {
    caller.ask(intent, &json!({ "dataset": "orders" })).await.status.as_u16()
}
