//! Rows 11 and 15: Kafka has the records, and its answer is lost.

use waybill_testkit::{PrivateBroker, Wire, eventually};

use super::scene::Scene;

/// Three rows that the broker has, and of which the relay on the wire does not know it.
async fn kept_and_unanswered(scene: &Scene, broker: &PrivateBroker, wire: &Wire) {
    wire.lose_answers();
    scene.write_all(2..=4).await;
    eventually("the broker has them", async || {
        (broker.read_to_end(&scene.topic).await.len() >= 4).then_some(())
    })
    .await;
    assert_eq!(scene.passed().await, 1, "the cursor passed a row without its acknowledgement");
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_whose_acknowledgement_is_lost_are_sent_again_by_whoever_is_there_and_take_effect_once() {
    let (broker, wire) = PrivateBroker::start_behind_a_wire().await;
    let scene = Scene::on_broker(&broker, &wire.bootstrap(), 1).await;
    let relay = scene.relay();
    scene.write(1).await;
    scene.drained().await;

    // The producer lives on: the broker knows the numbers of what it sends again.
    kept_and_unanswered(&scene, &broker, &wire).await;
    wire.mend();
    scene.drained().await;
    let ledger = scene.is_whole_in(&broker.read_to_end(&scene.topic).await).await;
    assert_eq!(ledger.occurrences("key"), [1, 1, 1, 1], "the broker did not know the producer again");

    // The relay does not: its successor cannot know what the broker has.
    wire.lose_answers();
    scene.write_all(5..=6).await;
    eventually("the broker has them", async || {
        (broker.read_to_end(&scene.topic).await.len() == 6).then_some(())
    })
    .await;
    relay.kill().await;
    wire.mend();
    let _next = scene.relay();
    scene.drained().await;
    let ledger = scene.is_whole_in(&broker.read_to_end(&scene.topic).await).await;
    assert_eq!(ledger.occurrences("key"), [1, 1, 1, 1, 2, 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_send_that_was_reported_failed_though_the_broker_kept_it_is_sent_again_and_takes_effect_once() {
    let (broker, wire) = PrivateBroker::start_behind_a_wire().await;
    let scene = Scene::on_broker(&broker, &wire.bootstrap(), 1).await;
    let relay = scene.relay();
    scene.write(1).await;
    scene.drained().await;
    kept_and_unanswered(&scene, &broker, &wire).await;
    // A send has no timeout of its own. It is given up, and reported as failed, with the lease under which it was made.
    let steal = "UPDATE outbox.cursor
                 SET fence = fence + 1, holder = 'another', lease_until = now() + interval '1 second'";
    scene.run(steal).await;
    relay.logged("fenced").await;
    assert_eq!(scene.passed().await, 1);
    wire.mend();
    scene.drained().await;
    let ledger = scene.is_whole_in(&broker.read_to_end(&scene.topic).await).await;
    assert_eq!(ledger.occurrences("key"), [1, 2, 2, 2]);
}
