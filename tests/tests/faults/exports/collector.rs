//! Row 25, its end: what a dead worker left behind is collected, also when the collector dies between an object and its row.

use waybill_testkit::{System, eventually};

use crate::aftermath::{Aftermath, objects, the_file_is_right};

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_killed_between_an_object_and_its_row_leaves_nothing_that_the_next_one_does_not_end() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let operator = system.operator(&api).await;
    let caller = system.tenant(&operator, "a tenant").await;
    let export_id = caller.export("intent-7").await;
    let dying = system.start_at(&["worker"], "worker.verified");
    dying.wait_stopped().await;
    dying.kill().await;
    let _worker = system.start(&["worker"]);
    assert_eq!(caller.settled(&export_id).await["state"], "succeeded");
    let after = Aftermath::of(&system, &export_id).await;
    assert_eq!((after.candidates().await, objects(&system)), (states(["verified", "selected"]), 2));

    let collector = system.start_at(&["reconciler"], "collector.removed");
    let aged = "UPDATE export.candidates SET created_at = created_at - interval '25 hours',
                    condemned_at = condemned_at - interval '2 hours' WHERE state <> 'deleted'";
    let age = async || after.admin.batch_execute(aged).await.expect("aged");
    age().await;
    eventually("the orphan to be condemned", async || {
        (after.candidates().await == states(["condemned", "selected"])).then_some(())
    })
    .await;
    age().await;
    collector.wait_stopped().await;
    collector.kill().await;
    assert_eq!((after.candidates().await, objects(&system)), (states(["condemned", "selected"]), 1));

    let _next = system.start(&["reconciler"]);
    eventually("the next one to end it", async || {
        (after.candidates().await == states(["deleted", "selected"])).then_some(())
    })
    .await;
    assert_eq!(objects(&system), 1);
    the_file_is_right(&caller, &export_id).await;
}

fn states<const N: usize>(states: [&str; N]) -> Vec<String> {
    states.map(str::to_owned).to_vec()
}
