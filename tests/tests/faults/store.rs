//! Rows 33 to 35: the object store is away, slow or full, does what it was asked and its answer is lost, or keeps something
//! else than it was sent.

use std::path::Path;

use waybill_testkit::{Bucket, Caller, Launch, Process, System, Trouble, eventually};

use crate::aftermath::{Aftermath, facts_are_in_order, the_file_is_right};

struct Scene {
    system: System,
    bucket: Bucket,
    caller: Caller,
    export_id: String,
    after: Aftermath,
    _house: Vec<Process>,
}

/// An accepted export on a system whose files go to a bucket, without a worker.
async fn scene() -> Scene {
    let bucket = Bucket::fresh(Path::new(env!("CARGO_TARGET_TMPDIR"))).await;
    let system = System::fresh().await;
    let system =
        system.with("object_store.url", bucket.url()).with("object_store.settings", bucket.settings_table());
    let api = system.start(&["api"]);
    let operator = system.operator(&api).await;
    let caller = system.tenant(&operator, "a tenant").await;
    let rest = system.start(&["relay", "search", "stats"]);
    let export_id = caller.export("intent-7").await;
    let after = Aftermath::of(&system, &export_id).await;
    Scene { system, bucket, caller, export_id, after, _house: vec![api, rest] }
}

impl Scene {
    /// The export succeeds, after attempts that ended so; nothing is missing or twofold.
    async fn succeeds(&self, worker: &Process, attempts: &[&str]) {
        let settled = self.caller.settled(&self.export_id).await;
        assert_eq!(settled["state"], "succeeded", "{}", worker.log().tail());
        assert_eq!(self.after.attempts().await, attempts, "{}", worker.log().tail());
        self.after.downstreams_are_done().await;
        self.after.is_whole().await;
        facts_are_in_order(&self.system, &self.after).await;
        the_file_is_right(&self.caller, &self.export_id).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_is_away_for_a_moment_costs_no_attempt() {
    let scene = scene().await;
    scene.bucket.proxy().trouble(Trouble::Unavailable, &["POST", "uploads"], 2);
    let worker = scene.system.start(&["worker"]);
    scene.bucket.proxy().has_struck(2).await;
    scene.succeeds(&worker, &["succeeded"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_stays_away_fails_the_attempt_for_now_and_the_job_waits_and_succeeds_when_it_is_back() {
    the_job_waits_and_succeeds_after(Trouble::Unavailable).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_without_room_fails_the_attempt_for_now_and_the_job_waits_and_succeeds_when_there_is_room() {
    the_job_waits_and_succeeds_after(Trouble::Full).await;
}

async fn the_job_waits_and_succeeds_after(trouble: Trouble) {
    let scene = scene().await;
    scene.bucket.proxy().trouble(trouble, &[""], u32::MAX);
    let worker = scene.system.start(&["worker"]);
    let failed =
        "SELECT count(*) FROM export.attempts JOIN export.jobs USING (export_id) WHERE export_id = $1
                      AND attempts.state = 'failed' AND error_code = 'object-store-unavailable'
                      AND transient_failures = 1 AND failure_code IS NULL";
    eventually("the first attempt to fail", || async {
        (scene.after.count(failed).await == 1).then_some(())
    })
    .await;
    assert_eq!(scene.after.facts().await, ["waybill.export.requested"], "nobody outside is told of it");
    scene.bucket.proxy().calm();
    let settled = scene.caller.settled(&scene.export_id).await;
    assert_eq!(settled["state"], "succeeded", "{}", worker.log().tail());
    let attempts = scene.after.attempts().await;
    assert!(
        attempts[0] == "failed" && attempts.last().is_some_and(|last| last == "succeeded"),
        "{attempts:?}"
    );
    scene.after.downstreams_are_done().await;
    scene.after.is_whole().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_store_keeps_its_lease_for_longer_than_one_lasts() {
    let scene = scene().await;
    scene.bucket.proxy().trouble(Trouble::Slow, &["PUT", "partNumber"], u32::MAX);
    let worker = scene.system.start(&["worker"]);
    scene.bucket.proxy().has_struck(1).await;
    // The lease of these tests is 3 s.
    let outlasted = "SELECT count(*) FROM export.attempts JOIN export.jobs USING (export_id)
                     WHERE export_id = $1 AND heartbeat_at > claimed_at + interval '4 seconds'
                       AND lease_until > now() AND attempts.state = 'running'";
    eventually("the lease to be renewed for longer than it lasts", || async {
        (scene.after.count(outlasted).await == 1).then_some(())
    })
    .await;
    scene.bucket.proxy().calm();
    scene.succeeds(&worker, &["succeeded"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_whose_end_got_no_answer_is_known_by_the_object_and_its_digest() {
    let scene = scene().await;
    scene.bucket.proxy().trouble(Trouble::AnswerLost, &["POST", "uploadId"], 1);
    let worker = scene.system.start(&["worker"]);
    scene.bucket.proxy().has_struck(1).await;
    scene.succeeds(&worker, &["succeeded"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_the_store_did_not_keep_as_it_was_sent_never_becomes_a_result() {
    let scene = scene().await;
    scene.bucket.proxy().trouble(Trouble::Damaged, &["PUT", "partNumber"], 1);
    let worker = scene.system.start(&["worker"]);
    scene.bucket.proxy().has_struck(1).await;
    scene.succeeds(&worker, &["failed", "succeeded"]).await;
    let told = "SELECT error_code FROM export.attempts WHERE export_id = $1 AND state = 'failed'";
    assert_eq!(scene.after.texts(told).await, ["object-differs"]);
    assert_eq!(scene.after.candidates().await, ["writing", "selected"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_a_killed_worker_began_is_aborted_by_the_collector() {
    let scene = scene().await;
    let dying = scene.system.start_at(&["worker"], "worker.uploading");
    dying.wait_stopped().await;
    let named = "SELECT count(*) FROM export.candidates
                 WHERE export_id = $1 AND state = 'writing' AND upload_id IS NOT NULL";
    assert_eq!(scene.after.count(named).await, 1, "its name is on record before a byte of it is sent");
    dying.kill().await;
    let worker = scene.system.start(&["worker"]);
    scene.succeeds(&worker, &["lost", "succeeded"]).await;
    assert_eq!(scene.bucket.unended_uploads().await, 1);

    let _reconciler = scene.system.start(&["reconciler"]);
    let aged = "UPDATE export.candidates SET created_at = created_at - interval '25 hours',
                    condemned_at = condemned_at - interval '2 hours'";
    let deleted = "SELECT count(*) FROM export.candidates WHERE export_id = $1 AND state = 'deleted'
                       AND condemned_because = 'fenced'";
    eventually("the collector to have condemned and deleted it", || async {
        scene.after.admin.batch_execute(aged).await.expect("aged");
        (scene.after.count(deleted).await == 1).then_some(())
    })
    .await;
    assert_eq!(scene.bucket.unended_uploads().await, 0);
    assert_eq!(scene.after.candidates().await, ["deleted", "selected"]);
    the_file_is_right(&scene.caller, &scene.export_id).await;
}

/// A shell that puts a file system of its own over the store's folder, fills it, and becomes what comes after.
const FULL: &str = "mount -t tmpfs -o size=512k none \"$0\" && (cat /dev/zero > \"$0/filler\"; true) 2>/dev/null && exec \"$@\"";

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_tried_again_and_fails_the_export_with_a_reason_in_the_end() {
    let system = System::fresh().await;
    let folder = system.objects().to_str().expect("a path in UTF-8").to_owned();
    // A machine's root needs no name space of users for it, and some machines let nobody have one.
    let mut namespace = vec!["unshare", "--mount"];
    if !nix::unistd::geteuid().is_root() {
        namespace.extend(["--user", "--map-root-user"]);
    }
    namespace.extend(["sh", "-c", FULL, &folder]);
    let roles = ["api", "worker", "relay", "search", "stats"];
    let house = Launch::roles(&roles, system.settings()).wrapped(&namespace).start();
    let operator = system.operator(&house).await;
    let caller = system.tenant(&operator, "a tenant").await;
    let (failing, waiting) = (caller.export("intent-7").await, caller.export("intent-8").await);
    let after = Aftermath::of(&system, &failing).await;
    let failed = "SELECT count(*) FROM export.attempts
                  WHERE export_id = $1 AND error_code = 'object-store-unavailable'";
    eventually("attempts to fail", || async { (after.count(failed).await >= 2).then_some(()) }).await;
    assert_eq!(after.facts().await, ["waybill.export.requested"]);

    let tries = waybill_domain::limits::TRANSIENT_FAILURES_MAX;
    let last = "UPDATE export.jobs SET transient_failures = $2 WHERE export_id = $1";
    after.admin.execute(last, &[&failing, &tries]).await.expect("it is the end of a day and more");
    let settled = caller.settled(&failing).await;
    assert_eq!(settled["state"], "failed");
    assert_eq!(settled["failure"]["code"], "object-store-unavailable");

    let filler = format!("/proc/{}/root{folder}/filler", house.pid());
    std::fs::remove_file(filler).expect("somebody makes room");
    assert_eq!(caller.settled(&waiting).await["state"], "succeeded", "{}", house.log().tail());
    the_file_is_right(&caller, &waiting).await;
}
