//! Row 6: the database ends at once, with what of its log is not on disk.

use tokio_postgres::Client;
use waybill_testkit::{PrivatePostgres, TestDatabase};

use super::ledger::Ledger;
use super::scene::{Scene, append};

/// One after the other, and nothing waits for the disk.
async fn write_asynchronously(db: &Client, topic: &str, versions: std::ops::RangeInclusive<i64>) {
    db.batch_execute("SET synchronous_commit = off").await.expect("set");
    for version in versions {
        append(db, topic, "key", version).await;
    }
}

async fn number(db: &Client, sql: &str) -> i64 {
    db.query_one(sql, &[]).await.unwrap_or_else(|error| panic!("{sql}: {error:?}")).get(0)
}

const NEXT_XID: &str = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint";

#[tokio::test(flavor = "multi_thread")]
async fn xids_that_are_given_out_again_after_a_crash_hide_no_row() {
    let server = PrivatePostgres::start(&[]);
    let mut scene = Scene::in_database(TestDatabase::on_server(&server.url()).await, 1).await;
    let relay = scene.relay();
    scene.write(1).await;
    scene.drained().await;
    // It renews no lease meanwhile, which would flush the log.
    relay.stop().await;
    server.freeze_log_writer().await;
    let mut writer = scene.database.admin().await;
    for _ in 0..20 {
        let tx = writer.transaction().await.expect("begun");
        append(&tx, &scene.topic, "key", 2).await;
        tx.rollback().await.expect("rolled back");
    }
    write_asynchronously(&writer, &scene.topic, 2..=20).await;
    let given_out = number(&writer, NEXT_XID).await;
    server.crash().await;
    server.run();

    scene.reconnect().await;
    let survivors = scene.number("SELECT count(*) FROM outbox.events").await;
    assert_eq!(survivors, 1, "what nobody flushed outlived the crash");
    scene.write_all(2..=15).await;
    let again =
        format!("SELECT count(*) FROM outbox.events WHERE xid::text::bigint < {given_out} AND seq > 1");
    assert!(scene.number(&again).await >= 14, "no xid was given out a second time");
    relay.cont().await;
    scene.drained().await;
    assert_eq!(scene.is_whole().await.events(), 15);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_sent_outlives_a_crash_though_nobody_commits_synchronously() {
    let server = PrivatePostgres::start(&["synchronous_commit=off"]);
    // The relay keeps its lease, so that only reading the cursor again tells it which moves the crash took back.
    let mut scene = Scene::in_database(TestDatabase::on_server(&server.url()).await, 1)
        .await
        .with(|settings| settings.set("relay.lease_ms", 600_000));
    let relay = scene.relay();
    let mut next = 1;
    for _ in 0..3 {
        server.freeze_log_writer().await;
        write_asynchronously(&scene.admin, &scene.topic, next..=next + 4).await;
        scene.drained().await;
        // It opens no further window, which would flush the log: neither its last move nor what comes now is on disk.
        relay.stop().await;
        let moved = scene.place().await;
        write_asynchronously(&scene.admin, &scene.topic, next + 5..=next + 9).await;
        server.crash().await;
        let log = Ledger::of(&scene.records().await);
        server.run();

        scene.reconnect().await;
        assert_ne!(scene.place().await, moved, "the crash took no move of the cursor back");
        let rows = scene.admin.query("SELECT event_id FROM outbox.events", &[]).await.expect("the rows");
        let stored: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        let unknown = log.events() - stored.iter().filter(|id| log.holds(id)).count();
        assert_eq!(unknown, 0, "{unknown} rows are in the log and were lost by the database");
        next = i64::try_from(stored.len()).expect("few") + 1;
        relay.cont().await;
    }
    scene.write(next).await;
    scene.drained().await;
    scene.is_whole().await;
    drop(relay);
}

#[tokio::test(flavor = "multi_thread")]
async fn asynchronous_commits_that_a_window_holds_outlive_a_crash_before_they_are_sent() {
    let server = PrivatePostgres::start(&["synchronous_commit=off"]);
    let mut scene = Scene::in_database(TestDatabase::on_server(&server.url()).await, 1).await;
    server.freeze_log_writer().await;
    write_asynchronously(&scene.admin, &scene.topic, 1..=3).await;
    let dying = scene.relay_at("relay.opened");
    dying.wait_stopped().await;
    server.crash().await;
    dying.kill().await;
    server.run();

    scene.reconnect().await;
    assert_eq!(scene.number("SELECT count(*) FROM outbox.events").await, 3, "the window was not on disk");
    scene.write(4).await;
    let _next = scene.relay();
    scene.drained().await;
    assert_eq!(scene.is_whole().await.events(), 4);
}
