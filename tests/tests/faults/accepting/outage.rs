//! Row 6: Postgres ends at once and comes back, under callers that insist; also with rolled-back transactions just before it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::json;
use tokio_postgres::Client;
use waybill_testkit::{Caller, PrivatePostgres, Process, Status, System, eventually, id_of, read_to_end};

use super::stored::{accepted, export_ids, is_told_to_come_again, orders};

/// A system on a server of its own.
struct Scene {
    server: PrivatePostgres,
    system: System,
    operator: Caller,
    caller: Caller,
    api: Process,
}

impl Scene {
    async fn new() -> Self {
        let server = PrivatePostgres::start(&[]);
        let system = System::on_server(&server.url()).await;
        let (api, operator, caller) = system.called().await;
        Self { server, system, operator, caller, api }
    }

    /// Waits until the log has every export's command and requested fact, and says that it has nothing else, which would be
    /// an export that the database has lost (I1, I2).
    async fn is_published(&self, export_ids: &[String]) {
        let stored: BTreeSet<String> = export_ids.iter().cloned().collect();
        for topic in ["waybill.export.commands", "waybill.export.events"] {
            let topic = self.system.topic(topic);
            let events = eventually("the log to have every export", async || {
                let events = events_by_key(&topic).await;
                stored.iter().all(|id| events.contains_key(id)).then_some(events)
            })
            .await;
            let published: BTreeSet<String> = events.keys().cloned().collect();
            assert_eq!(published, stored, "{topic}");
            assert!(events.values().all(|ids| ids.len() == 1), "{topic}: {events:?}");
        }
    }
}

/// The ids of the events in a topic, each once, by their key.
async fn events_by_key(topic: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut events: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for record in read_to_end(topic).await {
        let key = String::from_utf8(record.key.clone().expect("a key")).expect("an export's id");
        events.entry(key).or_default().insert(record.header("ce_id").expect("an id").to_owned());
    }
    events
}

/// What callers were told, in all.
#[derive(Default)]
struct Told {
    accepted: AtomicI64,
    to_come_again: AtomicI64,
}

/// Sends this intent until it is accepted, as a caller does that keeps to `Retry-After`. Gives the export's id.
async fn insist(caller: &Caller, intent: &str, told: &Told) -> String {
    eventually(intent, async || {
        let answer = caller.ask(intent, &orders()).await;
        if answer.status.is_success() {
            told.accepted.fetch_add(1, Ordering::SeqCst);
            return Some(id_of(&answer.json()));
        }
        is_told_to_come_again(&answer);
        told.to_come_again.fetch_add(1, Ordering::SeqCst);
        None
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn exports_asked_for_over_an_immediate_restart_are_accepted_once_by_the_same_process_and_none_is_lost()
{
    const CALLERS: i64 = 4;
    const INTENTS: i64 = 40;
    let scene = Scene::new().await;
    // What is committed is on disk because of its commit alone: there is no relay yet, which would flush the log.
    scene.server.freeze_log_writer().await;
    let told = Arc::new(Told::default());
    let asking: Vec<_> = (0..CALLERS)
        .map(|number| {
            let (caller, told) = (scene.caller.clone(), Arc::clone(&told));
            tokio::spawn(async move {
                let mut exports = BTreeMap::new();
                for intent in 0..INTENTS {
                    let intent = format!("intent-{number}-{intent:02}");
                    let export_id = insist(&caller, &intent, &told).await;
                    exports.insert(intent, export_id);
                }
                exports
            })
        })
        .collect();
    eventually("a third of the exports to be accepted", async || {
        (told.accepted.load(Ordering::SeqCst) > CALLERS * INTENTS / 3).then_some(())
    })
    .await;
    scene.server.crash().await;
    is_told_to_come_again(&scene.caller.ask("in the outage", &orders()).await);
    scene.server.run();

    let mut exports = BTreeMap::new();
    for asked in asking {
        exports.extend(asked.await.expect("no panic"));
    }
    assert!(told.to_come_again.load(Ordering::SeqCst) > 0, "nobody asked while the server was away");
    let admin = scene.system.database.admin().await;
    accepted(&admin, CALLERS * INTENTS).await;
    let stored = export_ids(&admin).await;
    assert_eq!(stored, exports.values().cloned().collect::<Vec<_>>(), "what was answered is what is stored");
    for (intent, export_id) in &exports {
        let again = scene.caller.ask(intent, &orders()).await;
        assert_eq!((again.status.as_u16(), &id_of(&again.json())), (200, export_id), "{intent}");
    }
    let _relay = scene.system.start(&["relay"]);
    scene.is_published(&stored).await;
    assert_eq!(scene.api.status(), Status::Running);
}

/// The next transaction's number.
async fn next_xid(admin: &Client) -> i64 {
    let next = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint";
    admin.query_one(next, &[]).await.expect("a number").get(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn acceptances_rolled_back_just_before_an_immediate_restart_leave_nothing_and_hide_nothing_after_it() {
    const REFUSED: i64 = 20;
    let scene = Scene::new().await;
    let limited = format!("/v1/ops/tenants/{}", scene.caller.tenant_id());
    let limit = async |exports: i64| {
        let limits = json!({ "reason": "a test", "waiting_limit": exports });
        scene.operator.patch(&limited, &limits).await.success();
    };
    limit(1).await;
    let relay = scene.system.start(&["relay"]);
    let first = scene.caller.export("intent-00").await;
    scene.is_published(std::slice::from_ref(&first)).await;
    // It renews no lease meanwhile, which would flush the log.
    relay.stop().await;
    let admin = scene.system.database.admin().await;
    scene.server.freeze_log_writer().await;
    for intent in 1..=REFUSED {
        let refused = scene.caller.ask(&format!("intent-{intent:02}"), &orders()).await;
        assert_eq!(
            refused.code(),
            "quota-exceeded",
            "its transaction has written an intent and is rolled back"
        );
    }
    let given_out = next_xid(&admin).await;
    scene.server.crash().await;
    scene.server.run();

    let admin = scene.system.database.admin().await;
    accepted(&admin, 1).await;
    limit(100).await;
    let told = Told::default();
    for intent in 1..=REFUSED {
        insist(&scene.caller, &format!("intent-{intent:02}"), &told).await;
    }
    accepted(&admin, 1 + REFUSED).await;
    let again = format!("SELECT count(*) FROM outbox.events WHERE xid::text::bigint < {given_out}");
    let again: i64 = admin.query_one(&again, &[]).await.expect("a count").get(0);
    assert!(again > 2, "no transaction got the number of one that was rolled back");
    relay.cont().await;
    let stored = export_ids(&admin).await;
    assert_eq!(stored[0], first);
    scene.is_published(&stored).await;
    assert_eq!(scene.api.status(), Status::Running);
}
