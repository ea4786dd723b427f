//! What a tenant may have.

use futures_util::future::join_all;
use serde_json::{Value, json};
use waybill_testkit::{Caller, Process, System};

/// How many ask at once.
const CALLERS: usize = 50;

struct Scene {
    system: System,
    operator: Caller,
    caller: Caller,
    _api: Process,
}

async fn scene() -> Scene {
    let system = System::fresh().await;
    let (api, operator, caller) = system.called().await;
    Scene { system, operator, caller, _api: api }
}

impl Scene {
    async fn limit(&self, mut limits: Value) -> Value {
        limits["reason"] = "a test".into();
        let path = format!("/v1/ops/tenants/{}", self.caller.tenant_id());
        self.operator.patch(&path, &limits).await.success()
    }

    async fn usage(&self) -> Value {
        self.caller.get("/v1/usage").await.success()
    }

    async fn refused(&self, intent: &str) -> (u16, Value, u64) {
        let answer = self.caller.ask(intent, &json!({ "dataset": "orders" })).await;
        let retry_after = answer.headers.get("retry-after").and_then(|value| value.to_str().ok());
        let seconds = retry_after.and_then(|text| text.parse().ok()).unwrap_or_default();
        (answer.status.as_u16(), answer.json(), seconds)
    }

    async fn jobs(&self) -> i64 {
        let admin = self.system.database.admin().await;
        admin.query_one("SELECT count(*) FROM export.jobs", &[]).await.expect("counts").get(0)
    }
}

#[tokio::test]
async fn of_fifty_that_ask_at_once_exactly_as_many_as_may_wait_are_accepted() {
    let scene = scene().await;
    scene.limit(json!({ "waiting_limit": 7 })).await;
    let body = json!({ "dataset": "orders" });

    let intents: Vec<String> = (0..CALLERS).map(|number| format!("intent-{number}")).collect();
    let answers = join_all(intents.iter().map(|intent| scene.caller.ask(intent, &body))).await;

    let accepted: Vec<usize> = (0..CALLERS).filter(|number| answers[*number].status == 202).collect();
    assert_eq!(accepted.len(), 7);
    for answer in answers.iter().filter(|answer| answer.status != 202) {
        let said = answer.json();
        assert_eq!(
            (answer.status.as_u16(), &said["code"], &said["quota"]),
            (429, &json!("quota-exceeded"), &json!("waiting"))
        );
    }
    assert_eq!(scene.jobs().await, 7, "what was refused left nothing");
    let intents_stored = "SELECT count(*) FROM export.intents";
    let admin = scene.system.database.admin().await;
    let stored: i64 = admin.query_one(intents_stored, &[]).await.expect("counts").get(0);
    assert_eq!(stored, 7);

    let known = scene.caller.ask(&intents[accepted[0]], &body).await;
    assert_eq!(known.status, 200, "an intent that stands meets no quota");
    let other = scene.system.tenant(&scene.operator, "another").await;
    assert_eq!(other.ask("intent-1", &body).await.status, 202, "nor does another tenant");
}

#[tokio::test]
async fn a_place_that_is_free_again_is_given_to_the_same_intent_that_was_refused() {
    let scene = scene().await;
    scene.limit(json!({ "waiting_limit": 1 })).await;
    let first = scene.caller.export("intent-1").await;
    let (status, said, seconds) = scene.refused("intent-2").await;
    assert_eq!((status, &said["limit"], &said["used"]), (429, &json!(1), &json!(1)), "{said}");
    assert!((1..=60).contains(&seconds), "{seconds} s");

    scene.caller.post_bare(&format!("/v1/exports/{first}/cancel"), None).await.success();

    scene.caller.export("intent-2").await;
}

#[tokio::test]
async fn rows_of_a_day_and_bytes_that_are_kept_are_those_of_the_results() {
    let scene = scene().await;
    let _worker = scene.system.start(&["worker"]);
    let export_id = scene.caller.export("intent-1").await;
    let result = scene.caller.settled(&export_id).await["result"].clone();
    let (rows, bytes) = (result["rows"].as_i64().expect("rows"), result["bytes"].as_i64().expect("bytes"));
    let usage = scene.usage().await;
    assert_eq!((&usage["rows_a_day"]["used"], &usage["bytes_kept"]["used"]), (&json!(rows), &json!(bytes)));
    assert_eq!((&usage["rows_a_day"]["limit"], &usage["waiting"]["limit"]), (&Value::Null, &json!(10_000)));

    scene.limit(json!({ "rows_a_day_limit": rows, "bytes_kept_limit": bytes })).await;
    let (status, said, seconds) = scene.refused("intent-2").await;
    assert_eq!((status, &said["quota"]), (429, &json!("rows_a_day")), "{said}");
    assert!((1..=86_400).contains(&seconds), "{seconds} s");
    let retry = scene.caller.get(&format!("/v1/exports/{export_id}")).await;
    assert!(retry.status.is_success(), "what is there is there");

    scene.limit(json!({ "rows_a_day_limit": rows + 1 })).await;
    let (status, said, seconds) = scene.refused("intent-2").await;
    assert_eq!((status, &said["quota"], &said["used"]), (429, &json!("bytes_kept"), &json!(bytes)), "{said}");
    assert!((1..=86_400).contains(&seconds), "{seconds} s");

    scene.caller.delete(&format!("/v1/exports/{export_id}")).await.success();
    let usage = scene.usage().await;
    assert_eq!(usage["bytes_kept"]["used"], 0, "a file that goes makes room");
    assert_eq!(usage["rows_a_day"]["used"], rows, "and takes no row of the day back");
    let second = scene.caller.export("intent-2").await;
    scene.caller.settled(&second).await;
    let (status, said, _) = scene.refused("intent-3").await;
    assert_eq!(
        (status, &said["quota"], &said["used"]),
        (429, &json!("rows_a_day"), &json!(2 * rows)),
        "{said}"
    );
}

#[tokio::test]
async fn what_expires_says_when_there_will_be_room() {
    let scene = scene().await;
    let _worker = scene.system.start(&["worker"]);
    for intent in ["intent-1", "intent-2"] {
        let export_id = scene.caller.export(intent).await;
        scene.caller.settled(&export_id).await;
    }
    // Two results of the same size: with the limit of one, both have to go.
    let admin = scene.system.database.admin().await;
    let ends = "UPDATE export.jobs SET expires_at = now() + (100 * row) * interval '1 second'
                FROM (SELECT export_id, row_number() OVER (ORDER BY accepted_at) AS row FROM export.jobs) AS numbered
                WHERE numbered.export_id = jobs.export_id";
    admin.execute(ends, &[]).await.expect("both end");
    let used = scene.usage().await["bytes_kept"]["used"].as_i64().expect("bytes");

    scene.limit(json!({ "bytes_kept_limit": used / 2 })).await;
    let (_, said, seconds) = scene.refused("intent-3").await;
    assert!((150..=200).contains(&seconds), "the second has to go, too: {seconds} s, {said}");
    scene.limit(json!({ "bytes_kept_limit": used / 2 + 1 })).await;
    let (_, said, seconds) = scene.refused("intent-3").await;
    assert!((50..=100).contains(&seconds), "the first is enough: {seconds} s, {said}");
}

#[tokio::test]
async fn limits_are_decided_by_an_operator_with_a_reason_and_can_be_tried_out() {
    let scene = scene().await;
    let path = format!("/v1/ops/tenants/{}", scene.caller.tenant_id());
    let tried = json!({ "reason": "a test", "dry_run": true, "waiting_limit": 3, "rows_a_day_limit": 4 });
    let would = scene.operator.patch(&path, &tried).await.success();
    assert_eq!((&would["waiting_limit"], &would["before"]["waiting_limit"]), (&json!(3), &json!(10_000)));
    assert_eq!(scene.usage().await["waiting"]["limit"], 10_000);

    assert_eq!(scene.limit(json!({ "rows_a_day_limit": 4 })).await["rows_a_day_limit"], 4);
    let after = scene.limit(json!({ "rows_a_day_limit": null, "running_limit": 9 })).await;
    assert_eq!((&after["rows_a_day_limit"], &after["running_limit"]), (&Value::Null, &json!(9)));
    assert_eq!(scene.caller.patch(&path, &json!({ "reason": "mine" })).await.code(), "scope-missing");
    for wrong in [
        json!({ "waiting_limit": 1 }),
        json!({ "reason": "a", "waiting_limit": 0 }),
        json!({ "reason": "a", "limit": 1 }),
    ] {
        assert_eq!(scene.operator.patch(&path, &wrong).await.code(), "request-invalid", "{wrong}");
    }
    let decided = "SELECT count(*) FROM export.decisions WHERE action = 'tenant.limit'";
    let admin = scene.system.database.admin().await;
    let decided: i64 = admin.query_one(decided, &[]).await.expect("counts").get(0);
    assert_eq!(decided, 2, "each leaves a row, and a trial none");
}
