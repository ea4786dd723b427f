//! Row 12: the relay dies between Kafka's acknowledgement and its cursor.

use std::collections::BTreeMap;

use waybill_testkit::System;

use crate::aftermath::{Aftermath, facts_are_in_order, occurrences, the_file_is_right};

/// Where an export's command and its facts go.
const TOPICS: [&str; 2] = ["waybill.export.commands", "waybill.export.events"];

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
    let mut acknowledged = BTreeMap::new();
    for topic in TOPICS {
        acknowledged.insert(topic, occurrences(&system, topic, &export_id).await);
    }
    let events: Vec<usize> = acknowledged.values().flat_map(BTreeMap::values).copied().collect();
    assert!(events.contains(&1), "Kafka has nothing that the cursor does not know of: {acknowledged:?}");
    dying.kill().await;

    let rest = system.start(&["relay", "worker", "search", "stats", "reconciler"]);
    assert_eq!(caller.settled(&export_id).await["state"], "succeeded", "{}", rest.log().tail());
    after.downstreams_are_done().await;
    after.is_whole().await;
    facts_are_in_order(&system, &after).await;
    for (topic, before) in acknowledged {
        let now = occurrences(&system, topic, &export_id).await;
        let again = before.keys().all(|event_id| now[event_id] == 2);
        assert!(again, "what Kafka had stands in {topic} twice, by the same id: {before:?}, {now:?}");
    }
    the_file_is_right(&caller, &export_id).await;
}
