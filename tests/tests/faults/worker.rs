//! Rows 23 to 25 and 27: a worker dies after its claim, in the middle of its upload or after it, or comes back as a zombie;
//! and Postgres goes away when it is about to complete.

use std::cell::Cell;

use waybill_testkit::{Caller, Launch, Process, System, within};

use crate::aftermath::{Aftermath, facts_are_in_order, objects, the_file_is_right};

struct Scene {
    system: System,
    caller: Caller,
    export_id: String,
    _house: Vec<Process>,
}

/// An accepted export on a system without a worker.
async fn scene() -> Scene {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let operator = system.operator(&api).await;
    let caller = system.tenant(&operator, "a tenant").await;
    let rest = system.start(&["relay", "search", "stats", "reconciler"]);
    let export_id = caller.export("intent-7").await;
    Scene { system, caller, export_id, _house: vec![api, rest] }
}

impl Scene {
    /// Another worker takes over and completes; then nothing may be missing or twofold.
    async fn is_completed_by_another(&self) -> Aftermath {
        let second = self.system.start(&["worker"]);
        assert_eq!(
            self.caller.settled(&self.export_id).await["state"],
            "succeeded",
            "{}",
            second.log().tail()
        );
        let after = Aftermath::of(&self.system, &self.export_id).await;
        after.downstreams_are_done().await;
        after
    }

    async fn is_whole(&self, after: &Aftermath) {
        after.is_whole().await;
        facts_are_in_order(&self.system, after).await;
        the_file_is_right(&self.caller, &self.export_id).await;
    }
}

#[tokio::test]
async fn a_worker_killed_after_its_claim_is_taken_over_under_the_next_fence() {
    let scene = scene().await;
    let dying = scene.system.start_at(&["worker"], "worker.claimed");
    dying.wait_stopped().await;
    dying.kill().await;

    let after = scene.is_completed_by_another().await;
    scene.is_whole(&after).await;
    assert_eq!(after.attempts().await, ["lost", "succeeded"]);
    assert_eq!(after.candidates().await, ["selected"]);
    assert_eq!(objects(&scene.system), 1);
}

#[tokio::test]
async fn a_worker_frozen_in_the_middle_of_its_claim_does_not_hold_up_its_tenant_for_ever() {
    let scene = scene().await;
    let frozen = scene.system.start_at(&["worker"], "worker.claiming");
    frozen.wait_stopped().await;

    // Nobody kills it: its transaction, and the tenant's row with it, is taken from it.
    let after = scene.is_completed_by_another().await;
    frozen.cont().await;
    scene.is_whole(&after).await;
    assert_eq!(after.attempts().await, ["succeeded"], "the claim that was not committed never was");
    assert_eq!(objects(&scene.system), 1);
}

#[tokio::test]
async fn a_worker_killed_in_the_middle_of_its_upload_leaves_nothing_that_anybody_can_see() {
    let scene = scene().await;
    let dying = scene.system.start_at(&["worker"], "worker.uploading");
    dying.wait_stopped().await;
    dying.kill().await;
    let before = Aftermath::of(&scene.system, &scene.export_id).await;
    assert_eq!(before.candidates().await, ["writing"]);
    assert_eq!(before.facts().await, ["waybill.export.requested"]);
    let key = before.texts("SELECT object_key FROM export.candidates WHERE export_id = $1").await.remove(0);
    assert!(!scene.system.objects().join(&key).exists(), "half a file has no name");
    let content = scene.caller.get(&format!("/v1/exports/{}/content", scene.export_id)).await;
    assert_eq!(content.code(), "export-not-ready");

    let after = scene.is_completed_by_another().await;
    scene.is_whole(&after).await;
    assert_eq!(after.attempts().await, ["lost", "succeeded"]);
    assert_eq!(after.candidates().await, ["writing", "selected"]);
}

#[tokio::test]
async fn a_worker_killed_after_its_upload_leaves_an_orphan_and_another_completes() {
    let scene = scene().await;
    let dying = scene.system.start_at(&["worker"], "worker.verified");
    dying.wait_stopped().await;
    let before = Aftermath::of(&scene.system, &scene.export_id).await;
    assert_eq!(before.candidates().await, ["verified"]);
    assert_eq!(before.facts().await, ["waybill.export.requested"], "nothing is public before the selection");
    dying.kill().await;

    let after = scene.is_completed_by_another().await;
    scene.is_whole(&after).await;
    assert_eq!(after.attempts().await, ["lost", "succeeded"]);
    assert_eq!(after.candidates().await, ["verified", "selected"]);
    assert_eq!(objects(&scene.system), 2, "the orphan stays for the collector, whose row still names it");
}

#[tokio::test]
async fn a_zombie_that_comes_back_after_its_takeover_completes_nothing() {
    let scene = scene().await;
    let zombie = scene.system.start_at(&["worker"], "worker.verified");
    zombie.wait_stopped().await;

    let after = scene.is_completed_by_another().await;
    let selected = "SELECT result_candidate_id FROM export.jobs WHERE export_id = $1";
    let result = after.texts(selected).await;
    zombie.cont().await;
    zombie.logged("fenced").await;

    assert_eq!(after.texts(selected).await, result, "the zombie changed the selected result");
    scene.is_whole(&after).await;
    assert_eq!(after.attempts().await, ["fenced", "succeeded"]);
    assert_eq!(after.candidates().await, ["verified", "selected"]);
    assert_eq!(objects(&scene.system), 2, "its candidate stays an orphan");
    assert_eq!(
        after.count("SELECT count(*) FROM outbox.events WHERE convert_from(key, 'UTF8') = $1").await,
        3
    );
}

#[tokio::test]
async fn a_zombie_that_comes_back_while_its_successor_runs_is_told_apart_by_its_fence_alone() {
    let scene = scene().await;
    let zombie = scene.system.start_at(&["worker"], "worker.verified");
    zombie.wait_stopped().await;
    // With a lease that outlives this test, or the zombie's own process would take over once more.
    let patient = scene.system.settings().set("worker.lease_ms", 600_000);
    let successor = Launch::roles(&["worker"], patient).fault_point("worker.verified").start();
    successor.wait_stopped().await;
    let after = Aftermath::of(&scene.system, &scene.export_id).await;
    assert_eq!(
        after.texts("SELECT state || fence FROM export.jobs WHERE export_id = $1").await,
        ["running2"]
    );

    zombie.cont().await;
    zombie.logged("fenced").await;
    assert_eq!(after.facts().await, ["waybill.export.requested"], "the zombie completed a job of fence 2");
    assert_eq!(after.candidates().await, ["verified", "verified"]);
    successor.cont().await;

    assert_eq!(
        scene.caller.settled(&scene.export_id).await["state"],
        "succeeded",
        "{}",
        successor.log().tail()
    );
    after.downstreams_are_done().await;
    scene.is_whole(&after).await;
    assert_eq!(after.attempts().await, ["fenced", "succeeded"]);
    assert_eq!(after.candidates().await, ["verified", "selected"]);
}

#[tokio::test]
async fn a_completion_outlasts_a_postgres_that_is_away_and_the_export_takes_one_attempt() {
    let scene = scene().await;
    let patient = scene.system.settings().set("worker.lease_ms", 60_000);
    let worker = Launch::roles(&["worker"], patient).fault_point("worker.verified").start();
    worker.wait_stopped().await;
    let after = Aftermath::of(&scene.system, &scene.export_id).await;
    let database = scene.system.database.name();
    let closed = format!("ALTER DATABASE {database} CONNECTION LIMIT 0");
    after.admin.batch_execute(&closed).await.expect("nobody gets in");
    let cut = "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
               WHERE datname = current_database() AND usename = 'waybill_worker'";
    after.admin.batch_execute(cut).await.expect("the worker's sessions end");

    worker.cont().await;
    // Later than the fifth try, which is where an error that does not pass is given up.
    let tried = Cell::new(0);
    let sixth = worker.log().event(|event| {
        let again = event.message() == "could not be recorded, trying again";
        tried.set(tried.get() + u32::from(again));
        (tried.get() == 6).then_some(())
    });
    within("the completion to be tried in vain", sixth).await;
    assert_eq!(after.facts().await, ["waybill.export.requested"]);
    let open = format!("ALTER DATABASE {database} CONNECTION LIMIT -1");
    after.admin.batch_execute(&open).await.expect("everybody gets in");

    assert_eq!(scene.caller.settled(&scene.export_id).await["state"], "succeeded", "{}", worker.log().tail());
    after.downstreams_are_done().await;
    scene.is_whole(&after).await;
    assert_eq!(after.attempts().await, ["succeeded"]);
    assert_eq!(after.candidates().await, ["selected"]);
    assert_eq!(objects(&scene.system), 1);
}
