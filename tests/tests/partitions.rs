//! Partitions are made ahead without standing in anybody's way.

use waybill_testkit::{TestDatabase, within};

const APPEND: &str =
    "INSERT INTO outbox.events (topic, event_id, header_names, header_values) VALUES ('t', 'e', '{}', '{}')";

#[tokio::test]
async fn making_partitions_neither_waits_for_a_long_reader_nor_holds_up_a_writer() {
    let database = TestDatabase::fresh().await;
    let reader = database.admin().await;
    reader
        .batch_execute("BEGIN; SELECT count(*) FROM outbox.events, outbox.batches")
        .await
        .expect("a long reader");
    let writer = database.role("api").await;
    writer.batch_execute(&format!("BEGIN; {APPEND}")).await.expect("a writer with an open transaction");

    let reconciler = database.role("reconciler").await;
    let made = reconciler.query_one("SELECT outbox.ensure_partitions(20)", &[]);
    let made: i32 = within("the partitions", made).await.expect("made").get(0);

    assert_eq!(made, 12, "six days of events and of batches, beyond the fourteen that were there");
    within("a second row", writer.batch_execute(APPEND)).await.expect("the writer goes on");
    writer.batch_execute("COMMIT").await.expect("and commits");
    let again = reconciler
        .query_one("SELECT outbox.ensure_partitions(20)", &[])
        .await
        .expect("made")
        .get::<_, i32>(0);
    assert_eq!(again, 0, "there is nothing left to make");
}

#[tokio::test]
async fn every_partition_has_the_indexes_and_checks_of_its_parent() {
    let database = TestDatabase::fresh().await;
    let admin = database.admin().await;
    let strays = "SELECT count(*) FROM pg_class AS c JOIN pg_inherits AS i ON i.inhrelid = c.oid
                  WHERE i.inhparent IN ('outbox.events'::regclass, 'outbox.batches'::regclass)
                  AND (SELECT count(*) FROM pg_index AS x WHERE x.indrelid = c.oid AND x.indisvalid)
                      <> (SELECT count(*) FROM pg_index AS x WHERE x.indrelid = i.inhparent)";
    let strays: i64 = admin.query_one(strays, &[]).await.expect("the catalog answers").get(0);
    assert_eq!(strays, 0);
    let wrong = "INSERT INTO outbox.events (topic, event_id, header_names, header_values) VALUES ('no/topic', 'e', '{}', '{}')";
    assert!(admin.batch_execute(wrong).await.is_err(), "a partition takes what its parent refuses");
}
