//! What an export's owner decides: calling it off, trying it again, deleting it.

use serde_json::{Value, json};
use tokio_postgres::Client;
use waybill_testkit::{Answer, Caller, Launch, Loss, Process, Proxy, System, base_url, eventually, id_of};

struct Scene {
    system: System,
    operator: Caller,
    caller: Caller,
    admin: Client,
    _api: Process,
}

async fn scene() -> Scene {
    let system = System::fresh().await;
    let (api, operator, caller) = system.called().await;
    let admin = system.database.admin().await;
    Scene { system, operator, caller, admin, _api: api }
}

impl Scene {
    async fn facts(&self, export_id: &str) -> Vec<String> {
        let sql = "SELECT replace(type, 'waybill.export.', '') FROM export.facts WHERE export_id = $1 ORDER BY version";
        let rows = self.admin.query(sql, &[&export_id]).await.expect("facts");
        rows.iter().map(|row| row.get(0)).collect()
    }

    async fn cancel(&self, export_id: &str) -> Answer {
        self.caller.post_bare(&format!("/v1/exports/{export_id}/cancel"), None).await
    }

    async fn delete(&self, export_id: &str) -> Answer {
        self.caller.delete(&format!("/v1/exports/{export_id}")).await
    }

    async fn retry(&self, export_id: &str, intent: &str) -> Answer {
        self.caller.post_bare(&format!("/v1/exports/{export_id}/retry"), Some(intent)).await
    }

    /// How many wait for the row of a job that somebody holds.
    async fn waiting(&self) -> i64 {
        let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        self.admin.query_one(sql, &[]).await.expect("an answer").get(0)
    }

    async fn wait_for(&self, waiting: i64) {
        eventually("somebody to wait for the row", || async {
            (self.waiting().await == waiting).then_some(())
        })
        .await;
    }
}

fn refusal(answer: &Answer) -> (u16, String, Value) {
    (answer.status.as_u16(), answer.code(), answer.json()["state"].clone())
}

#[tokio::test]
async fn a_pending_export_is_cancelled_at_once_and_a_second_cancel_is_answered_with_it() {
    let scene = scene().await;
    let export_id = scene.caller.export("intent-7").await;
    let cancelled = scene.cancel(&export_id).await.success();
    assert_eq!((&cancelled["state"], &cancelled["version"]), (&json!("cancelled"), &json!(2)));
    let again = scene.cancel(&export_id).await;
    assert_eq!((again.status.as_u16(), again.json()), (200, cancelled));
    assert_eq!(scene.facts(&export_id).await, ["requested", "cancelled"]);
    let worker = scene.system.start(&["worker"]);
    let other = scene.caller.export("intent-8").await;
    assert_eq!(scene.caller.settled(&other).await["state"], "succeeded", "{}", worker.log().tail());
    let attempts = "SELECT count(*) FROM export.attempts WHERE export_id = $1";
    let attempts: i64 = scene.admin.query_one(attempts, &[&export_id]).await.expect("a count").get(0);
    assert_eq!(attempts, 0, "nobody works on what was called off");
}

#[tokio::test]
async fn a_deleted_export_keeps_its_row_and_gives_its_file_to_the_collector() {
    let scene = scene().await;
    let _worker = scene.system.start(&["worker"]);
    let export_id = scene.caller.export("intent-7").await;
    scene.caller.settled(&export_id).await;
    let deleted = scene.delete(&export_id).await.success();
    assert_eq!((&deleted["state"], &deleted["version"]), (&json!("deleted"), &json!(3)));
    assert_eq!(
        deleted["result"]["rows"],
        waybill_testkit::ROWS_OF_TENANT,
        "what the file was is still known"
    );
    assert_eq!(scene.delete(&export_id).await.success(), deleted);
    assert_eq!(scene.facts(&export_id).await, ["requested", "succeeded", "deleted"]);
    let content = scene.caller.get(&format!("/v1/exports/{export_id}/content")).await;
    assert_eq!(refusal(&content), (410, "export-deleted".to_owned(), json!("deleted")));
    let cause =
        "SELECT condemned_because FROM export.candidates WHERE export_id = $1 AND state = 'condemned'";
    let cause: String = scene.admin.query_one(cause, &[&export_id]).await.expect("it is condemned").get(0);
    assert_eq!(cause, "export-deleted");
    assert_eq!(refusal(&scene.cancel(&export_id).await).2, "deleted");
}

#[tokio::test]
async fn what_the_state_does_not_allow_is_refused_and_says_which_it_is() {
    let scene = scene().await;
    let pending = scene.caller.export("intent-7").await;
    let refused = scene.delete(&pending).await;
    assert_eq!(refusal(&refused), (409, "transition-not-allowed".to_owned(), json!("pending")));
    let detail = refused.json()["detail"].to_string();
    assert!(detail.contains("cancel it first"), "{detail}");
    assert_eq!(refusal(&scene.retry(&pending, "again").await).2, "pending");
    let worker = scene.system.start(&["worker"]);
    assert_eq!(scene.caller.settled(&pending).await["state"], "succeeded", "{}", worker.log().tail());
    assert_eq!(
        refusal(&scene.cancel(&pending).await),
        (409, "transition-not-allowed".to_owned(), json!("succeeded"))
    );
    let stranger = scene.system.tenant(&scene.operator, "another tenant").await;
    for answer in [
        stranger.delete(&format!("/v1/exports/{pending}")).await,
        stranger.post_bare(&format!("/v1/exports/{pending}/cancel"), None).await,
        stranger.post_bare(&format!("/v1/exports/{pending}/retry"), Some("mine")).await,
    ] {
        assert_eq!((answer.status.as_u16(), answer.code().as_str()), (404, "export-not-found"));
    }
    assert_eq!(scene.facts(&pending).await, ["requested", "succeeded"]);
}

#[tokio::test]
async fn a_decision_can_be_tried_out_and_its_reason_is_kept_with_who_gave_it() {
    let scene = scene().await;
    let export_id = scene.caller.export("intent-7").await;
    let path = format!("/v1/exports/{export_id}/cancel?reason=wrong%20year");
    let tried = scene.caller.post_bare(&format!("{path}&dry_run=true"), None).await.success();
    assert_eq!((&tried["state"], &tried["before"]["state"]), (&json!("cancelled"), &json!("pending")));
    let now = scene.caller.get(&format!("/v1/exports/{export_id}")).await.success();
    assert_eq!(now["state"], "pending");
    let decided = "SELECT string_agg(action || ': ' || reason, ',') FROM export.decisions
                   WHERE principal = (SELECT service_account_id FROM export.jobs LIMIT 1)";
    let recorded =
        async || -> Option<String> { scene.admin.query_one(decided, &[]).await.expect("an answer").get(0) };
    assert_eq!(recorded().await, None);
    scene.caller.post_bare(&path, None).await.success();
    assert_eq!(recorded().await.as_deref(), Some("export.cancel: wrong year"));
    let blank = scene.caller.post_bare(&format!("/v1/exports/{export_id}/cancel?reason=%20"), None).await;
    assert_eq!(blank.code(), "request-invalid");
}

#[tokio::test]
async fn of_a_cancel_and_a_completion_that_race_exactly_the_first_wins_and_both_learn_it() {
    let scene = scene().await;
    for cancel_is_first in [true, false] {
        let export_id = scene.caller.export(&format!("intent-{cancel_is_first}")).await;
        let worker = scene.system.start_at(&["worker"], "worker.verified");
        worker.wait_stopped().await;
        let holder = scene.system.database.admin().await;
        let held = format!("BEGIN; SELECT FROM export.jobs WHERE export_id = '{export_id}' FOR UPDATE");
        holder.batch_execute(&held).await.expect("the row is held");

        let cancel = scene.cancel(&export_id);
        let (answer, ()) = if cancel_is_first {
            tokio::join!(cancel, async {
                scene.wait_for(1).await;
                worker.cont().await;
                scene.wait_for(2).await;
                holder.batch_execute("COMMIT").await.expect("let go");
            })
        } else {
            worker.cont().await;
            scene.wait_for(1).await;
            tokio::join!(cancel, async {
                scene.wait_for(2).await;
                holder.batch_execute("COMMIT").await.expect("let go");
            })
        };

        if cancel_is_first {
            assert_eq!(answer.success()["state"], "cancelled");
            worker.logged("fenced").await;
            assert_eq!(scene.facts(&export_id).await, ["requested", "cancelled"]);
            let attempt = "SELECT state || ' ' || error_code FROM export.attempts WHERE export_id = $1";
            let attempt: String = scene.admin.query_one(attempt, &[&export_id]).await.expect("one").get(0);
            assert_eq!(attempt, "fenced export-cancelled");
            let candidate = "SELECT state FROM export.candidates WHERE export_id = $1";
            let candidate: String =
                scene.admin.query_one(candidate, &[&export_id]).await.expect("one").get(0);
            assert_eq!(candidate, "verified", "its file is left to the collector");
        } else {
            assert_eq!(refusal(&answer), (409, "transition-not-allowed".to_owned(), json!("succeeded")));
            worker.logged("succeeded").await;
            assert_eq!(scene.facts(&export_id).await, ["requested", "succeeded"]);
        }
    }
}

#[tokio::test]
async fn a_cancel_whose_commit_got_no_answer_is_read_back_and_happens_once() {
    for loss in [Loss::Answer, Loss::Message] {
        let scene = scene().await;
        let export_id = scene.caller.export("intent-7").await;
        let proxy = Proxy::before(&scene.system.database).await;
        let settings = scene.system.settings().set("database.export.url", proxy.url());
        let behind = Launch::roles(&["api"], settings).start();
        let unlucky = scene.caller.at(base_url(&behind).await);
        proxy.lose(loss, b"COMMIT\0");
        let answer = unlucky.post_bare(&format!("/v1/exports/{export_id}/cancel"), None).await;
        proxy.lost().await;
        assert_eq!(answer.success()["state"], "cancelled", "{loss:?}");
        assert_eq!(scene.facts(&export_id).await, ["requested", "cancelled"], "{loss:?}");
    }
}

#[tokio::test]
async fn a_worker_in_the_middle_of_a_query_stops_at_the_heartbeat_after_the_cancel() {
    let scene = scene().await;
    let holder = scene.system.database.admin().await;
    holder.batch_execute("BEGIN; LOCK TABLE source.orders").await.expect("nobody can read");
    let export_id = scene.caller.export("intent-7").await;
    let worker = scene.system.start(&["worker"]);
    let beaten = "SELECT count(*) FROM export.attempts WHERE heartbeat_at > claimed_at";
    eventually("a heartbeat", || async {
        let row = scene.admin.query_one(beaten, &[]).await.expect("an answer");
        (row.get::<_, i64>(0) == 1).then_some(())
    })
    .await;
    scene.cancel(&export_id).await.success();
    worker.logged("fenced: stopped in the middle of the work").await;
    let after = "SELECT count(*) FROM export.attempts WHERE state = 'fenced' AND heartbeat_at <= ended_at";
    let after: i64 = scene.admin.query_one(after, &[]).await.expect("an answer").get(0);
    assert_eq!(after, 1, "no heartbeat renewed anything after the cancel");
    holder.batch_execute("COMMIT").await.expect("let go");
    let other = scene.caller.export("intent-8").await;
    assert_eq!(scene.caller.settled(&other).await["state"], "succeeded", "{}", worker.log().tail());
}

#[tokio::test]
async fn a_retry_is_a_new_export_of_the_same_and_an_intent_of_its_own() {
    let scene = scene().await;
    scene.admin.batch_execute("ALTER TABLE source.orders RENAME TO elsewhere").await.expect("renamed");
    let wish = json!({ "dataset": "orders", "columns": ["order_id"], "name": "Q3", "labels": { "a": "1" } });
    let failed = id_of(&scene.caller.ask("intent-7", &wish).await.success());
    let other = scene.caller.export("intent-8").await;
    let worker = scene.system.start(&["worker"]);
    for export_id in [&failed, &other] {
        let settled = scene.caller.settled(export_id).await;
        assert_eq!(settled["failure"]["code"], "dataset-relation-missing", "{}", worker.log().tail());
    }
    assert_eq!(
        scene.caller.post_bare(&format!("/v1/exports/{failed}/retry"), None).await.code(),
        "idempotency-key-required"
    );
    scene.admin.batch_execute("ALTER TABLE source.elsewhere RENAME TO orders").await.expect("repaired");

    let over = "UPDATE export.jobs SET retention_seconds = NULL, expires_at = now() WHERE export_id = $1";
    scene.admin.execute(over, &[&failed]).await.expect("the time that was asked for comes");
    let too_late = scene.retry(&failed, "again").await;
    assert_eq!((too_late.status.as_u16(), too_late.code().as_str()), (422, "request-unfit"));
    assert_eq!(too_late.json()["errors"][0]["field"], "expiry");
    let open = "UPDATE export.jobs SET expires_at = NULL WHERE export_id = $1";
    scene.admin.execute(open, &[&failed]).await.expect("no time was asked for");

    let made = scene.retry(&failed, "again").await;
    assert_eq!(made.status, 202, "a refused try left nothing that stands for the intent");
    let new = made.json();
    let new_id = id_of(&new);
    assert_ne!(new_id, failed);
    assert_eq!(new["retry_of"], failed);
    for member in ["dataset", "format", "columns", "name", "labels", "notify"] {
        assert_eq!(
            new[member],
            scene.caller.get(&format!("/v1/exports/{failed}")).await.json()[member],
            "{member}"
        );
    }
    assert_eq!(scene.caller.settled(&new_id).await["state"], "succeeded", "{}", worker.log().tail());

    let again = scene.retry(&failed, "again").await;
    assert_eq!((again.status.as_u16(), id_of(&again.json())), (200, new_id.clone()), "as it is now");
    let mismatch = scene.retry(&other, "again").await;
    assert_eq!((mismatch.status.as_u16(), mismatch.code().as_str()), (422, "intent-mismatch"));
    assert_eq!(mismatch.json()["export_id"], new_id);
    let still = scene.caller.get(&format!("/v1/exports/{failed}")).await.success();
    assert_eq!((&still["state"], &still["version"]), (&json!("failed"), &json!(2)));

    scene.delete(&failed).await.success();
    let kept = scene.caller.get(&format!("/v1/exports/{failed}")).await.success();
    assert_eq!(kept["failure"]["code"], "dataset-relation-missing", "why it failed is still known");
    assert_eq!(scene.retry(&failed, "once more").await.json()["state"], "deleted");
}

#[tokio::test]
async fn a_result_is_kept_for_as_long_as_its_owner_said_and_then_only_the_record_is_left() {
    let scene = scene().await;
    let asked = async |intent: &str, expiry: &str| {
        scene.caller.ask(intent, &json!({ "dataset": "orders", "expiry": expiry })).await
    };
    let refused = asked("intent-6", "1m").await;
    assert_eq!((refused.status.as_u16(), refused.code().as_str()), (422, "request-unfit"));
    assert_eq!(refused.json()["errors"][0]["field"], "expiry");
    let week = asked("intent-7", "7d").await.success();
    assert_eq!(week["expires_at"], Value::Null, "it counts from the completion on");
    let other = asked("intent-7", "8d").await;
    assert_eq!((other.code().as_str(), &other.json()["differs_in"]), ("intent-mismatch", &json!(["expiry"])));
    let export_id = id_of(&week);

    let _house = scene.system.start(&["worker", "reconciler"]);
    scene.caller.settled(&export_id).await;
    let days = "SELECT extract(day FROM date_trunc('hour', expires_at - finished_at + interval '30 minutes'))::integer
                FROM export.jobs WHERE export_id = $1";
    let days: i32 = scene.admin.query_one(days, &[&export_id]).await.expect("the export").get(0);
    assert_eq!(days, 7);
    let over = "UPDATE export.jobs SET expires_at = now() WHERE export_id = $1";
    scene.admin.execute(over, &[&export_id]).await.expect("a week goes by");
    let path = format!("/v1/exports/{export_id}");
    eventually("its time to be over", || async {
        (scene.caller.get(&path).await.success()["state"] == "expired").then_some(())
    })
    .await;
    let content = scene.caller.get(&format!("{path}/content")).await;
    assert_eq!(refusal(&content), (410, "result-expired".to_owned(), json!("expired")));
    let record = scene.caller.get(&path).await.success();
    assert_eq!(record["result"]["rows"], waybill_testkit::ROWS_OF_TENANT, "what the file was is still known");
    assert_eq!(scene.facts(&export_id).await, ["requested", "succeeded", "expired"]);
}
