//! A tenant sees its own exports, files, search hits and counters, and nobody else's.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use waybill_testkit::{Answer, Caller, System, eventually};

/// The paths of the router, as the source declares them.
fn declared_paths() -> BTreeSet<String> {
    let router = include_str!("../../services/api/src/router.rs");
    let paths = router.split(".route(\"").skip(1).filter_map(|rest| rest.split('"').next());
    paths.filter(|path| !PUBLIC.contains(path)).map(str::to_owned).collect()
}

/// What anybody may read, because it tells of nobody.
const PUBLIC: [&str; 1] = ["/openapi.json"];

/// Every path that a tenant's key may call, and what it answers when it is called with another tenant's export.
fn foreign(path: &str) -> Option<u16> {
    match path {
        "/v1/exports/{export_id}"
        | "/v1/exports/{export_id}/content"
        | "/v1/exports/{export_id}/events"
        | "/v1/exports/{export_id}/timeline" => Some(404),
        _ => None,
    }
}

/// The paths by which an owner decides about an export.
const DECISIONS: [&str; 2] = ["/v1/exports/{export_id}/cancel", "/v1/exports/{export_id}/retry"];

/// The paths without an id in them: what they answer is checked for the other tenant's data instead.
const LISTS: [&str; 5] = ["/v1/exports", "/v1/datasets", "/v1/search", "/v1/stats", "/v1/usage"];

struct Scene {
    system: System,
    operator: Caller,
    one: Caller,
    other: Caller,
    export_id: String,
    _house: Vec<waybill_testkit::Process>,
}

/// Two tenants, and an export of the first that search and stats know.
async fn scene() -> Scene {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let rest = system.start(&["relay", "worker", "search", "stats", "reconciler"]);
    let operator = system.operator(&api).await;
    let one = system.tenant(&operator, "one").await;
    let other = system.tenant(&operator, "other").await;
    let asked = one.ask("intent-7", &json!({ "dataset": "orders", "name": "季度報表 secret" })).await;
    let export_id = waybill_testkit::id_of(&asked.success());
    one.settled(&export_id).await;
    eventually("the export to be found and counted", || async {
        let hits = one.get("/v1/search?q=%E5%A0%B1%E8%A1%A8").await.success();
        let stats = one.get("/v1/stats").await.success();
        (hits.to_string().contains("succeeded") && stats.to_string().contains("\"succeeded\":1"))
            .then_some(())
    })
    .await;
    Scene { system, operator, one, other, export_id, _house: vec![api, rest] }
}

/// Whether anything stands in this answer that only the first tenant knows. (Its export's id is in some questions.)
fn tells_of(answer: &Answer, scene: &Scene) -> bool {
    let text = String::from_utf8_lossy(&answer.bytes).into_owned();
    text.contains("secret") || text.contains("succeeded") || text.contains(scene.one.tenant_id())
}

#[tokio::test]
async fn every_path_of_the_api_is_bound_to_the_tenant_of_the_key() {
    let scene = scene().await;
    for path in declared_paths() {
        if path.starts_with("/v1/ops/") {
            let concrete =
                path.replace("{export_id}", &scene.export_id).replace("{tenant_id}", scene.one.tenant_id());
            for answer in [scene.one.get(&concrete).await, scene.one.post(&concrete, &json!({})).await] {
                let refused = [403, 404, 405].contains(&answer.status.as_u16());
                assert!(refused, "{path} answered a tenant's key with {}", answer.status);
            }
        } else if let Some(expected) = foreign(&path) {
            let concrete = path.replace("{export_id}", &scene.export_id);
            assert!(scene.one.get(&concrete).await.status.is_success(), "{path} refuses its owner");
            let answer = scene.other.get(&concrete).await;
            assert_eq!(answer.status.as_u16(), expected, "{path}: {}", answer.json());
            let absent = path.replace("{export_id}", "exp_00000000000000000000000000000000");
            let absent = scene.other.get(&absent).await;
            assert_eq!(answer.code(), absent.code(), "{path} tells a foreign export from an absent one");
        } else if DECISIONS.contains(&path.as_str()) {
            for export_id in [scene.export_id.as_str(), "exp_00000000000000000000000000000000"] {
                let answer =
                    scene.other.post_bare(&path.replace("{export_id}", export_id), Some("mine")).await;
                assert_eq!((answer.status.as_u16(), answer.code().as_str()), (404, "export-not-found"));
            }
        } else {
            assert!(
                LISTS.contains(&path.as_str()),
                "{path} is new: say in this test how it is bound to a tenant"
            );
            let query = if path == "/v1/search" { "?q=%E5%A0%B1%E8%A1%A8" } else { "" };
            let answer = scene.other.get(&format!("{path}{query}")).await;
            assert!(answer.status.is_success(), "{path}: {}", answer.json());
            assert!(!tells_of(&answer, &scene), "{path} tells another tenant: {}", answer.json());
            assert!(!answer.json().to_string().contains(&scene.export_id), "{path} tells the export's id");
        }
    }
    let path = format!("/v1/exports/{}", scene.export_id);
    assert_eq!(scene.other.delete(&path).await.code(), "export-not-found");
    assert_eq!(scene.one.get(&path).await.success()["state"], "succeeded", "nobody else decided anything");
}

#[tokio::test]
async fn no_path_answers_without_a_key_or_with_a_revoked_one() {
    let scene = scene().await;
    let account = "SELECT service_account_id FROM export.service_accounts WHERE tenant_id = $1";
    let admin = scene.system.database.admin().await;
    let account: String =
        admin.query_one(account, &[&scene.one.tenant_id()]).await.expect("the account").get(0);
    let wanted = json!({ "service_account_id": account, "scopes": ["exports:read"] });
    let made: Value = scene.operator.post("/v1/ops/api-keys", &wanted).await.created();
    let fresh = scene.one.with_key(made["api_key"].as_str().expect("a key"), None);
    assert!(fresh.get(&format!("/v1/exports/{}", scene.export_id)).await.status.is_success());
    let revoke = format!("/v1/ops/api-keys/{}/revoke", made["api_key_id"].as_str().expect("its id"));
    scene.operator.post(&revoke, &json!({ "reason": "a test" })).await.success();

    let without = scene.one.with_key("", None);
    let wrong = scene.one.with_key(&format!("{}x", made["api_key"].as_str().expect("a key")), None);
    for path in declared_paths() {
        let concrete =
            path.replace("{export_id}", &scene.export_id).replace("{tenant_id}", scene.one.tenant_id());
        for caller in [&fresh, &without, &wrong] {
            for answer in [caller.get(&concrete).await, caller.post(&concrete, &json!({})).await] {
                assert!([401, 405].contains(&answer.status.as_u16()), "{path} answered {}", answer.status);
                assert!(!answer.json().to_string().contains("secret"), "{path}: {}", answer.json());
            }
        }
    }
}

#[tokio::test]
async fn a_key_that_may_only_read_starts_nothing() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let operator = system.operator(&api).await;
    let caller = system.tenant(&operator, "one").await;
    let account = "SELECT service_account_id FROM export.service_accounts WHERE tenant_id = $1";
    let admin = system.database.admin().await;
    let account: String = admin.query_one(account, &[&caller.tenant_id()]).await.expect("the account").get(0);
    let wanted = json!({ "service_account_id": account, "scopes": ["exports:read"] });
    let made: Value = operator.post("/v1/ops/api-keys", &wanted).await.created();
    let reader = caller.with_key(made["api_key"].as_str().expect("a key"), None);

    let refused = reader.ask("intent-7", &json!({ "dataset": "orders" })).await;

    assert_eq!(refused.status.as_u16(), 403, "{}", refused.json());
}

#[tokio::test]
async fn a_suspended_tenant_is_refused_and_its_waiting_work_is_not_claimed() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let operator = system.operator(&api).await;
    let caller = system.tenant(&operator, "one").await;
    let export_id = caller.export("intent-7").await;
    let suspend = format!("/v1/ops/tenants/{}/suspend", caller.tenant_id());
    operator.post(&suspend, &json!({ "reason": "a test" })).await.success();

    let refused = caller.get(&format!("/v1/exports/{export_id}")).await;
    assert_eq!((refused.status.as_u16(), refused.code().as_str()), (403, "tenant-suspended"));

    let other = system.tenant(&operator, "two").await;
    let _house = system.start(&["relay", "worker", "reconciler"]);
    let theirs = other.export("intent-8").await;
    other.settled(&theirs).await;
    let state = "SELECT state FROM export.jobs WHERE export_id = $1";
    let admin = system.database.admin().await;
    let state: String = admin.query_one(state, &[&export_id]).await.expect("the job").get(0);
    assert_eq!(state, "pending");
    let decided = "SELECT count(*) FROM export.decisions WHERE action = 'tenant.suspend' AND subject = $1";
    let decided: i64 = admin.query_one(decided, &[&caller.tenant_id()]).await.expect("counts").get(0);
    assert_eq!(decided, 1, "a decision leaves a row");
}
