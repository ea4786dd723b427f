//! Keys of a service account: what they may, how long, and how one follows another.

use serde_json::{Value, json};
use waybill_testkit::{Caller, Process, System};

struct Scene {
    system: System,
    operator: Caller,
    caller: Caller,
    account: String,
    _api: Process,
}

async fn scene() -> Scene {
    let system = System::fresh().await;
    let (api, operator, caller) = system.called().await;
    let sql = "SELECT service_account_id FROM export.service_accounts WHERE tenant_id = $1";
    let admin = system.database.admin().await;
    let account = admin.query_one(sql, &[&caller.tenant_id()]).await.expect("the account").get(0);
    Scene { system, operator, caller, account, _api: api }
}

impl Scene {
    /// A key for this long, and whoever has it.
    async fn key(&self, valid_seconds: Option<i64>) -> (String, Caller) {
        let wanted = json!({
            "service_account_id": self.account, "scopes": ["exports:read"], "valid_seconds": valid_seconds,
        });
        let made = self.operator.post("/v1/ops/api-keys", &wanted).await.created();
        (text(&made, "api_key_id"), self.holder(&made))
    }

    fn holder(&self, made: &Value) -> Caller {
        self.caller.with_key(&text(made, "api_key"), Some(self.caller.tenant_id()))
    }

    async fn rotate(&self, api_key_id: &str, overlap_seconds: i64) -> Value {
        let body = json!({ "reason": "a test", "overlap_seconds": overlap_seconds });
        self.operator.post(&format!("/v1/ops/api-keys/{api_key_id}/rotate"), &body).await.success()
    }

    async fn listed(&self) -> Vec<Value> {
        let path = format!("/v1/ops/api-keys?service_account_id={}", self.account);
        self.operator.get(&path).await.success()["api_keys"].as_array().expect("a list").clone()
    }
}

fn text(value: &Value, member: &str) -> String {
    value[member].as_str().unwrap_or_else(|| panic!("no {member} in {value}")).to_owned()
}

/// What somebody with a key is answered.
async fn answered(caller: &Caller) -> (u16, String) {
    let answer = caller.get("/v1/usage").await;
    (answer.status.as_u16(), answer.code())
}

const WELL: (u16, String) = (200, String::new());

fn refused(code: &str) -> (u16, String) {
    (401, code.to_owned())
}

#[tokio::test]
async fn both_keys_work_until_the_overlap_is_over_and_then_the_new_one_alone() {
    let scene = scene().await;
    let (old_id, old) = scene.key(None).await;

    let made = scene.rotate(&old_id, 3_600).await;
    let new = scene.holder(&made);
    assert_eq!((answered(&old).await, answered(&new).await), (WELL, WELL));
    assert_eq!(text(&made, "rotated_from"), old_id);
    assert_eq!((&made["scopes"], &made["expires_at"]), (&json!(["exports:read"]), &Value::Null));

    let an_hour_later =
        "UPDATE export.api_keys SET expires_at = expires_at - interval '1 hour' WHERE api_key_id = $1";
    let admin = scene.system.database.admin().await;
    assert_eq!(admin.execute(an_hour_later, &[&old_id]).await.expect("time passes"), 1);
    assert_eq!((answered(&old).await, answered(&new).await), (refused("api-key-expired"), WELL));
}

#[tokio::test]
async fn a_successor_has_the_term_of_its_predecessor_and_never_gives_that_a_longer_life() {
    let scene = scene().await;
    let (short_id, short) = scene.key(Some(600)).await;
    let before = scene.listed().await.into_iter().find(|key| text(key, "api_key_id") == short_id);

    let made = scene.rotate(&short_id, 86_400).await;

    assert_eq!(made["predecessor"]["expires_at"], before.expect("the key")["expires_at"], "not a day");
    let term = "SELECT extract(epoch FROM expires_at - created_at)::bigint FROM export.api_keys WHERE api_key_id = $1";
    let admin = scene.system.database.admin().await;
    let term: i64 = admin.query_one(term, &[&text(&made, "api_key_id")]).await.expect("a term").get(0);
    assert_eq!(term, 600);
    assert_eq!(answered(&short).await, WELL);

    // The successor's answer is lost: the key is rotated once more, and the one that nobody has is revoked.
    let again = scene.rotate(&short_id, 0).await;
    assert_eq!(answered(&short).await, refused("api-key-expired"), "without an overlap it ends at once");
    assert_eq!(answered(&scene.holder(&again)).await, WELL);
    let followers = scene.listed().await;
    assert_eq!(followers.iter().filter(|key| key["rotated_from"] == short_id.as_str()).count(), 2);
    assert!(followers.iter().all(|key| key.get("api_key").is_none()), "a key is shown once");
}

#[tokio::test]
async fn a_rotation_that_is_only_tried_out_makes_nothing_and_shows_no_key() {
    let scene = scene().await;
    let (old_id, old) = scene.key(None).await;
    let before = scene.listed().await;

    let body = json!({ "reason": "a test", "overlap_seconds": 0, "dry_run": true });
    let would = scene.operator.post(&format!("/v1/ops/api-keys/{old_id}/rotate"), &body).await.success();

    assert!(would.get("api_key").is_none() && would["before"]["predecessor"]["expires_at"].is_null());
    assert_eq!(scene.listed().await, before);
    assert_eq!(answered(&old).await, WELL);
}

#[tokio::test]
async fn a_key_that_no_longer_works_has_nothing_to_hand_on() {
    let scene = scene().await;
    let (revoked_id, revoked) = scene.key(None).await;
    let path = format!("/v1/ops/api-keys/{revoked_id}");
    scene.operator.post(&format!("{path}/revoke"), &json!({ "reason": "a test" })).await.success();
    assert_eq!(answered(&revoked).await, refused("api-key-revoked"), "with the very next request");

    let rotate = json!({ "reason": "a test" });
    let ended = scene.operator.post(&format!("{path}/rotate"), &rotate).await;
    assert_eq!((ended.status.as_u16(), ended.code().as_str()), (409, "api-key-ended"));
    let nobody = "/v1/ops/api-keys/key_00000000000000000000000000000000/rotate";
    assert_eq!(scene.operator.post(nobody, &rotate).await.code(), "api-key-not-found");
    for wrong in [json!({ "reason": "a test", "overlap_seconds": -1 }), json!({ "overlap_seconds": 1 })] {
        assert_eq!(scene.operator.post(&format!("{path}/rotate"), &wrong).await.code(), "request-invalid");
    }
}
