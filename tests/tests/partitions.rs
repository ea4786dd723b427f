//! Partitions are made ahead without standing in anybody's way.

use waybill_testkit::{TestDatabase, within};

const APPEND: &str =
    "INSERT INTO outbox.events (topic, event_id, header_names, header_values) VALUES ('t', 'e', '{}', '{}')";

/// The day of the last partition: the migrations may have made theirs before a midnight that has passed.
const LAST_DAY: &str =
    "SELECT max(right(c.relname, 8)) FROM pg_class AS c JOIN pg_inherits AS i ON i.inhrelid = c.oid
    WHERE i.inhparent = 'outbox.events'::regclass";

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
    let last = reader.query_one(LAST_DAY, &[]).await.expect("the catalog answers").get::<_, String>(0);
    let make = "SELECT outbox.ensure_partitions(20), (now() AT TIME ZONE 'UTC')::date + 20 - to_date($1, 'YYYYMMDD')";
    let made = async { reconciler.query_one(make, &[&last]).await };
    let made = within("the partitions", made).await.expect("made");

    let (made, days): (i32, i32) = (made.get(0), made.get(1));
    assert!(days >= 6, "the fourteen days that were there end at {last}");
    assert_eq!(made, 2 * days, "events and batches of each day beyond {last}");
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
