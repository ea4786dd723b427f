//! Waiting for a change of an export, and following it.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio_postgres::Client;
use waybill_testkit::{Answer, Caller, Process, Status, System, eventually};

/// Much longer than anything here takes: a wait that is answered sooner was not over.
const LONG: (&str, &str) = ("Prefer", "wait=50");

struct Scene {
    system: System,
    admin: Client,
    operator: Caller,
    caller: Caller,
    api: Process,
    export_id: String,
}

async fn scene_in(system: System) -> Scene {
    let (api, operator, caller) = system.called().await;
    let admin = system.database.admin().await;
    let export_id = caller.export("intent-1").await;
    Scene { system, admin, operator, caller, api, export_id }
}

async fn scene() -> Scene {
    scene_in(System::fresh().await).await
}

impl Scene {
    fn path(&self) -> String {
        format!("/v1/exports/{}", self.export_id)
    }

    /// How many watch, as the api says it.
    async fn watched_by(&self, watchers: u8) {
        eventually("so many to watch", || async {
            let watched = self.api.metric("waybill_exports_watched").await;
            (watched.total_cmp(&f64::from(watchers)).is_eq()).then_some(())
        })
        .await;
    }

    async fn cancel(&self) {
        self.caller.post_bare(&format!("{}/cancel", self.path()), None).await.success();
    }

    /// The export runs, as if a worker had claimed it; no fact is published and nobody is told.
    async fn run(&self) {
        let claimed = "WITH claimed AS (
                UPDATE export.jobs SET state = 'running', fence = 1, due_at = NULL, lease_until = now() + interval '1 hour'
                WHERE export_id = $1 RETURNING export_id
            )
            INSERT INTO export.attempts (export_id, fence, number, worker, state) SELECT export_id, 1, 1, 'w', 'running' FROM claimed";
        assert_eq!(self.admin.execute(claimed, &[&self.export_id]).await.expect("claimed"), 1);
    }

    async fn progress(&self, rows: i64) {
        let sql = "UPDATE export.attempts SET rows_done = $2 WHERE export_id = $1";
        assert_eq!(self.admin.execute(sql, &[&self.export_id, &rows]).await.expect("progress"), 1);
    }
}

fn etag(answer: &Answer) -> String {
    answer.headers["etag"].to_str().expect("visible").to_owned()
}

fn applied(answer: &Answer) -> Option<&str> {
    answer.headers.get("preference-applied").and_then(|value| value.to_str().ok())
}

#[tokio::test]
async fn a_representation_has_a_validator_that_changes_whenever_it_does() {
    let scene = scene().await;
    let first = etag(&scene.caller.get(&scene.path()).await);
    assert_eq!(etag(&scene.caller.get(&scene.path()).await), first);
    let known = scene.caller.get_with(&scene.path(), &[("If-None-Match", &first)]).await;
    assert_eq!((known.status.as_u16(), known.bytes.len(), etag(&known)), (304, 0, first.clone()));
    assert!(known.headers.contains_key("retry-after"), "it is under way all the same");

    scene.run().await;
    let running = etag(&scene.caller.get(&scene.path()).await);
    scene.progress(5).await;
    let progressed = etag(&scene.caller.get(&scene.path()).await);
    assert!(running != first && progressed != running);
    let changed = scene.caller.get_with(&scene.path(), &[("If-None-Match", &first)]).await;
    assert_eq!(changed.status, 200);
}

#[tokio::test]
async fn a_wait_is_answered_when_the_export_is_cancelled_and_by_nothing_before() {
    let scene = scene().await;
    let path = scene.path();
    let headers = [LONG];
    let (answer, ()) = tokio::join!(scene.caller.get_with(&path, &headers), async {
        scene.watched_by(1).await;
        scene.cancel().await;
    });
    assert_eq!((answer.json()["state"].as_str(), applied(&answer)), (Some("cancelled"), Some("wait=50")));
    scene.watched_by(0).await;
    let over = scene.caller.get_with(&path, &headers).await;
    assert_eq!(
        (over.status.as_u16(), applied(&over)),
        (200, Some("wait=50")),
        "there is nothing to wait for"
    );
}

#[tokio::test]
async fn a_change_that_nobody_tells_of_is_found_by_looking() {
    let scene = scene().await;
    let (path, headers) = (scene.path(), [LONG]);
    let (answer, ()) = tokio::join!(scene.caller.get_with(&path, &headers), async {
        scene.watched_by(1).await;
        scene.run().await;
    });
    assert_eq!(answer.json()["state"], "running");
}

#[tokio::test]
async fn a_wait_goes_on_over_the_loss_of_every_connection_to_the_database() {
    let scene = scene().await;
    let (path, headers) = (scene.path(), [LONG]);
    let (answer, ()) = tokio::join!(scene.caller.get_with(&path, &headers), async {
        scene.watched_by(1).await;
        let cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                   WHERE usename = 'waybill_api' AND datname = current_database()";
        scene.admin.query_one(cut, &[]).await.expect("cut off");
        scene.run().await;
    });
    assert_eq!(answer.json()["state"], "running");
}

#[tokio::test]
async fn whoever_says_what_it_has_is_answered_by_progress_too_and_at_once_when_it_has_something_else() {
    let scene = scene().await;
    scene.run().await;
    let path = scene.path();
    let has = etag(&scene.caller.get(&path).await);
    let headers = [LONG, ("If-None-Match", has.as_str())];
    let (answer, ()) = tokio::join!(scene.caller.get_with(&path, &headers), async {
        scene.watched_by(1).await;
        scene.progress(7).await;
    });
    assert_eq!(answer.json()["progress"]["rows_done"], 7);
    let again = scene.caller.get_with(&path, &headers).await;
    assert_eq!(again.status, 200, "what it has is old");
}

#[tokio::test]
async fn a_wait_that_ends_without_a_change_says_so() {
    let scene = scene().await;
    let path = scene.path();
    let unchanged = scene.caller.get_with(&path, &[("Prefer", "wait=1")]).await;
    assert_eq!((unchanged.json()["state"].as_str(), applied(&unchanged)), (Some("pending"), Some("wait=1")));
    let has = etag(&unchanged);
    let same = scene.caller.get_with(&path, &[("Prefer", "wait=1"), ("If-None-Match", &has)]).await;
    assert_eq!((same.status.as_u16(), applied(&same)), (304, Some("wait=1")));
}

#[tokio::test]
async fn a_wait_outlasts_the_limit_of_a_request_that_works() {
    let system = System::fresh()
        .await
        .with("api.request_timeout_ms", 1_000)
        .with("database.export.acquire_timeout_ms", 500);
    let scene = scene_in(system).await;
    let began = Instant::now();
    let answer = scene.caller.get_with(&scene.path(), &[("Prefer", "wait=3")]).await;
    assert_eq!(answer.status, 200, "{}", answer.json());
    assert!(began.elapsed() >= Duration::from_secs(3), "it waited: that is no matter of the machine's speed");
}

#[tokio::test]
async fn beyond_its_bound_a_tenant_is_not_made_to_wait_and_gets_no_stream() {
    let scene = scene_in(System::fresh().await.with("api.watchers_per_tenant_max", 2)).await;
    let streams = [
        scene.caller.follow(&scene.export_id, None).await,
        scene.caller.follow(&scene.export_id, None).await,
    ];
    assert!(streams.iter().all(|stream| stream.status() == 200));
    scene.watched_by(2).await;

    let at_once = scene.caller.get_with(&scene.path(), &[LONG]).await;
    assert_eq!((at_once.status.as_u16(), applied(&at_once)), (200, None));
    let refused = scene.caller.get(&format!("{}/events", scene.path())).await;
    assert_eq!((refused.status.as_u16(), refused.json()["quota"].as_str()), (429, Some("watching")));
    assert!(refused.headers.contains_key("retry-after"));
    let other = scene.system.tenant(&scene.operator, "another").await;
    let theirs = other.export("intent-1").await;
    assert_eq!(other.follow(&theirs, None).await.status(), 200, "another tenant has places of its own");

    drop(streams);
    scene.watched_by(0).await;
    assert_eq!(scene.caller.follow(&scene.export_id, None).await.status(), 200);
}

#[tokio::test]
async fn a_stream_begins_with_what_is_tells_every_change_and_ends_with_the_outcome() {
    let scene = scene().await;
    let mut stream = scene.caller.follow(&scene.export_id, None).await;
    let first = stream.next().await.expect("what is");
    assert_eq!(first.data, scene.caller.get(&scene.path()).await.success());
    scene.run().await;
    assert_eq!(stream.next().await.expect("a change").data["state"], "running");
    scene.progress(3).await;
    assert_eq!(stream.next().await.expect("a change").data["progress"]["rows_done"], 3);
    scene.cancel().await;
    let last = stream.next().await.expect("the outcome");
    assert_eq!((last.data["state"].as_str(), last.data["version"].as_i64()), (Some("cancelled"), Some(2)));
    assert!(last.id.starts_with("2-") && last.id != first.id);
    assert_eq!(stream.next().await, None);
    scene.watched_by(0).await;
}

#[tokio::test]
async fn whoever_comes_back_is_sent_what_it_has_not_seen_and_told_when_there_is_nothing_more() {
    let scene = scene().await;
    let first = scene.caller.follow(&scene.export_id, None).await.next().await.expect("what is");
    let mut same = scene.caller.follow(&scene.export_id, Some(&first.id)).await;
    scene.watched_by(1).await;
    scene.run().await;
    let running = same.next().await.expect("a change");
    assert_eq!(running.data["state"], "running", "what was seen is not sent again");
    drop(same);
    scene.cancel().await;
    let mut missed = scene.caller.follow(&scene.export_id, Some(&running.id)).await;
    let last = missed.next().await.expect("what it has not seen");
    assert_eq!((last.data["state"].as_str(), missed.next().await), (Some("cancelled"), None));
    let over = scene.caller.follow(&scene.export_id, Some(&last.id)).await;
    assert_eq!(over.status(), 204, "which ends an EventSource");
}

#[tokio::test]
async fn a_stream_is_a_tenants_own_and_ends_when_its_key_does() {
    let scene = scene().await;
    let other = scene.system.tenant(&scene.operator, "another").await;
    assert_eq!(other.get(&format!("{}/events", scene.path())).await.code(), "export-not-found");

    let mut stream = scene.caller.follow(&scene.export_id, None).await;
    stream.next().await.expect("what is");
    let suspend = format!("/v1/ops/tenants/{}/suspend", scene.caller.tenant_id());
    scene.operator.post(&suspend, &json!({ "reason": "a test" })).await.success();
    scene.run().await;
    assert_eq!(stream.next().await, None, "it learns of no change any more");
}

#[tokio::test]
async fn the_end_of_the_process_ends_waits_and_streams_at_once() {
    let scene = scene().await;
    let mut stream = scene.caller.follow(&scene.export_id, None).await;
    stream.next().await.expect("what is");
    let (path, headers) = (scene.path(), [LONG]);
    let (answer, ended) = tokio::join!(scene.caller.get_with(&path, &headers), async {
        scene.watched_by(2).await;
        scene.api.terminate().await
    });
    assert_eq!((answer.status.as_u16(), answer.json()["state"].as_str()), (200, Some("pending")));
    assert_eq!(stream.next().await, None);
    assert_eq!(ended, Status::Exited(0));
}
