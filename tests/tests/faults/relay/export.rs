//! Row 12: the relay dies between Kafka's acknowledgement and its cursor.

use waybill_testkit::System;

use crate::aftermath::{Aftermath, facts_are_in_order, occurrences, the_file_is_right};

#[tokio::test]
async fn a_relay_killed_between_acknowledgement_and_cursor_sends_again_and_every_effect_is_one() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let operator = system.operator(&api).await;
    let caller = system.tenant(&operator, "a tenant").await;
    let export_id = caller.export("intent-7").await;

    let dying = system.start_at(&["relay"], "relay.acknowledged");
    dying.wait_stopped().await;
    let after = Aftermath::of(&system, &export_id).await;
    let moved = "SELECT count(*) FROM outbox.batches WHERE $1 <> ''";
    assert_eq!(after.count(moved).await, 0, "the cursor moved before the fault");
    let sent_once = occurrences(&system, "waybill.export.events", &export_id).await;
    assert_eq!(sent_once.values().sum::<usize>(), 1, "Kafka has the fact that the cursor does not know of");
    dying.kill().await;

    let rest = system.start(&["relay", "worker", "search", "stats", "reconciler"]);
    assert_eq!(caller.settled(&export_id).await["state"], "succeeded", "{}", rest.log().tail());
    after.downstreams_are_done().await;
    after.is_whole().await;
    facts_are_in_order(&system, &after).await;
    let requested =
        after.texts("SELECT event_id FROM export.facts WHERE export_id = $1 AND version = 1").await;
    let occurrences = occurrences(&system, "waybill.export.events", &export_id).await;
    assert_eq!(occurrences[&requested[0]], 2, "the fact stands in the log twice, by the same id");
    the_file_is_right(&caller, &export_id).await;
}
