//! Row 12: the relay dies between Kafka's acknowledgement and its cursor.

use waybill_testkit::{System, eventually};

use crate::aftermath::{Aftermath, facts_are_in_order, occurrences, the_file_is_right};

#[tokio::test]
async fn a_relay_killed_between_acknowledgement_and_cursor_sends_again_and_every_effect_is_one() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let operator = system.operator(&api).await;
    let caller = system.tenant(&operator, "a tenant").await;
    let export_id = caller.export("intent-7").await;
    let after = Aftermath::of(&system, &export_id).await;
    let passed = "SELECT coalesce(sum(events), 0)::bigint FROM outbox.batches WHERE $1 <> ''";
    // Past the command, which leaves no effect that could be twofold, so that the completion is all that there is to send.
    let first = system.start(&["relay"]);
    eventually("the relay to pass the command and the first fact", || async {
        (after.count(passed).await == 2).then_some(())
    })
    .await;
    first.terminate().await;
    let worker = system.start(&["worker"]);
    assert_eq!(caller.settled(&export_id).await["state"], "succeeded", "{}", worker.log().tail());

    let dying = system.start_at(&["relay"], "relay.acknowledged");
    dying.wait_stopped().await;
    assert_eq!(after.count(passed).await, 2, "the cursor moved before the fault");
    let succeeded =
        after.texts("SELECT event_id FROM export.facts WHERE export_id = $1 AND version = 2").await;
    let sent = occurrences(&system, "waybill.export.events", &export_id).await;
    assert_eq!(sent.get(&succeeded[0]), Some(&1), "Kafka has the fact that the cursor does not know of");
    dying.kill().await;

    let _rest = system.start(&["relay", "search", "stats", "reconciler"]);
    let read = "SELECT coalesce(sum(next_offset), 0)::bigint FROM stats.positions WHERE $1 <> ''";
    eventually("stats to pass the fact that was sent twice", || async {
        (after.count(read).await == 3).then_some(())
    })
    .await;
    after.downstreams_are_done().await;
    after.is_whole().await;
    facts_are_in_order(&system, &after).await;
    let occurrences = occurrences(&system, "waybill.export.events", &export_id).await;
    assert_eq!(occurrences[&succeeded[0]], 2, "the fact stands in the log twice, by the same id");
    the_file_is_right(&caller, &export_id).await;
}
