//! Rows 10, 11, 12 and 18: a relay is killed, and another one goes on.

use waybill_testkit::eventually;

use super::scene::{Scene, append};

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_killed_before_it_sends_leaves_every_row_to_the_next() {
    let scene = Scene::new(1).await;
    scene.write_all(1..=3).await;
    let dying = scene.relay_at("relay.opened");
    dying.wait_stopped().await;
    let is_open = "SELECT (from_snapshot::text <> to_snapshot::text)::int::bigint FROM outbox.cursor";
    assert_eq!(scene.number(is_open).await, 1, "the window is stored before a row of it is used");
    assert_eq!(scene.records().await, [], "nothing was sent yet");
    dying.kill().await;

    let _next = scene.relay();
    scene.drained().await;
    assert_eq!(scene.is_whole().await.repetitions(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_killed_with_rows_on_their_way_moves_the_cursor_over_none_of_them() {
    let scene = Scene::new(1).await;
    scene.write_all(1..=3).await;
    let dying = scene.relay_at("relay.sent");
    dying.wait_stopped().await;
    assert_eq!(scene.passed().await, 0);
    dying.kill().await;

    let _next = scene.relay();
    scene.drained().await;
    scene.is_whole().await;
    assert_eq!(scene.passed().await, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_rows_of_one_key_and_two_relays_survive_three_kills() {
    let scene = Scene::new(3).await.with(|settings| settings.set("relay.page_rows", 2));
    scene.write_all(1..=10).await;
    let mut active = scene.relay_at("relay.sent");
    active.wait_stopped().await;
    for point in ["relay.acknowledged", "relay.acknowledged#2", "relay.opened#9"] {
        let fence = scene.fence().await;
        let standby = scene.relay_at(point);
        active.kill().await;
        scene.taken_after(fence).await;
        active = standby;
        if point != "relay.opened#9" {
            active.wait_stopped().await;
        }
    }
    scene.drained().await;
    let ledger = scene.is_whole().await;
    assert_eq!((ledger.events(), ledger.keys()), (10, 1));
    assert!(
        ledger.repetitions() > 0,
        "rows were acknowledged before a kill, and the cursor had not passed them"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_low_seq_that_commits_late_is_sent_though_the_relay_that_passed_it_was_killed() {
    let scene = Scene::new(1).await;
    let mut late_writer = scene.database.admin().await;
    let late = late_writer.transaction().await.expect("begun");
    append(&late, &scene.topic, "late", 1).await;
    let first = scene.relay();
    scene.write_all(1..=5).await;
    scene.drained().await;
    assert_eq!(scene.records().await.len(), 5, "the higher ones did not wait");
    first.kill().await;
    late.commit().await.expect("committed");

    let _second = scene.relay();
    scene.drained().await;
    assert_eq!(scene.is_whole().await.occurrences("late"), [1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_a_prepared_transaction_are_sent_when_it_commits_and_those_that_were_taken_back_never() {
    let scene = Scene::new(1).await;
    let [kept, given_up] = ["kept", "given_up"].map(|name| format!("{}{name}", scene.topics().prefix()));
    for (gid, version) in [(&kept, 1), (&given_up, 7)] {
        let writer = scene.database.admin().await;
        writer.batch_execute("BEGIN").await.expect("begun");
        append(&writer, &scene.topic, "prepared", version).await;
        writer.batch_execute("SAVEPOINT nested").await.expect("a subtransaction");
        append(&writer, &scene.topic, "prepared", 99).await;
        writer.batch_execute("ROLLBACK TO nested").await.expect("taken back");
        append(&writer, &scene.topic, "prepared", version + 1).await;
        writer.batch_execute(&format!("PREPARE TRANSACTION '{gid}'")).await.expect("prepared");
    }
    let first = scene.relay();
    scene.write_all(1..=3).await;
    scene.drained().await;
    assert_eq!(scene.records().await.len(), 3, "what is only prepared is not sent, and holds nothing back");
    first.kill().await;
    let second = scene.relay();
    scene.run(&format!("ROLLBACK PREPARED '{given_up}'")).await;
    scene.run(&format!("COMMIT PREPARED '{kept}'")).await;
    eventually("the prepared rows", async || (scene.records().await.len() == 5).then_some(())).await;
    scene.drained().await;
    assert_eq!(scene.is_whole().await.occurrences("prepared"), [1, 1]);
    drop(second);
}
