//! What goes wrong with simpler cursors, and does not with the window: each test does both on the same rows.

use tokio_postgres::Client;
use waybill_outbox::window::{Batch, Cursor, Statements};
use waybill_testkit::{PrivatePostgres, TestDatabase};

use crate::fixtures::{Outbox, seqs, write};
use crate::plans::Plan;

const TOPIC: &str = "events";

/// How Postgres plans when it knows the parameters.
const CUSTOM: &str = "force_custom_plan";

/// An outbox in this database.
async fn outbox_in(database: TestDatabase) -> Outbox {
    let admin = database.admin().await;
    let writer = database.role("api").await;
    Outbox { database, admin, writer }
}

async fn naive(db: &Client, sql: &str) -> Vec<i64> {
    let rows = db.query(sql, &[]).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    rows.iter().map(|row| row.get(0)).collect()
}

async fn text(db: &Client, sql: &str) -> String {
    db.query_one(sql, &[]).await.unwrap_or_else(|error| panic!("{sql}: {error:?}")).get(0)
}

/// Opens the next window and ends it as if Kafka had acknowledged its rows, which are the answer.
async fn relayed(db: &Client, statements: &Statements, cursor: &mut Cursor) -> Vec<i64> {
    let mut rows = Vec::new();
    // A crash may take the end of a window with it, which waits for no flush: then its rows are sent again.
    if !cursor.window.is_drained() {
        rows.extend(passed(db, statements, cursor).await);
    }
    statements.open(db, cursor).await.expect("opened");
    rows.extend(passed(db, statements, cursor).await);
    rows
}

/// Reads what is left of the window, and ends it.
async fn passed(db: &Client, statements: &Statements, cursor: &mut Cursor) -> Vec<i64> {
    let rows = seqs(db, statements, cursor).await;
    let events = i32::try_from(rows.len()).expect("few");
    let batch = rows.last().map(|last| Batch { last_seq: *last, events });
    statements.drain(db, cursor, batch).await.expect("drained");
    rows
}

#[tokio::test]
async fn a_cursor_that_is_an_id_loses_the_late_commit_of_a_low_seq() {
    let mut outbox = Outbox::new().await;
    let (db, statements, mut cursor) = outbox.cursor("relay").await;
    let other = outbox.database.role("api").await;
    let late = outbox.writer.transaction().await.expect("begun");
    let low = write(&late, TOPIC, "a", "low").await;
    let high = write(&other, TOPIC, "b", "high").await;

    let by_id = |last_seq: i64| format!("SELECT seq FROM outbox.events WHERE seq > {last_seq} ORDER BY seq");
    assert_eq!(naive(&outbox.admin, &by_id(0)).await, [high]);
    assert_eq!(relayed(&db, &statements, &mut cursor).await, [high]);
    late.commit().await.expect("committed");

    assert_eq!(
        naive(&outbox.admin, &by_id(high)).await,
        [0; 0],
        "the id cursor found it: no counter-example"
    );
    assert_eq!(relayed(&db, &statements, &mut cursor).await, [low]);
}

#[tokio::test]
async fn a_horizon_at_the_oldest_transaction_stalls_behind_whoever_holds_one_open() {
    let outbox = Outbox::new().await;
    let (db, statements, mut cursor) = outbox.cursor("relay").await;
    let mut holder = outbox.database.admin().await;
    let held = holder.transaction().await.expect("begun");
    held.execute("SELECT pg_current_xact_id()", &[])
        .await
        .expect("an xid, and nothing to do with the outbox");
    let below_horizon = "SELECT seq FROM outbox.events \
                         WHERE xid < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY xid, seq";
    for round in 0..3 {
        let seq = write(&outbox.writer, TOPIC, "a", &round.to_string()).await;
        assert_eq!(naive(&outbox.admin, below_horizon).await, [0; 0], "nothing stalled: no counter-example");
        assert_eq!(relayed(&db, &statements, &mut cursor).await, [seq]);
    }
    held.commit().await.expect("committed");
}

#[tokio::test]
async fn a_snapshot_cut_off_at_an_xid_puts_a_keys_later_commit_before_its_earlier_one() {
    let outbox = Outbox::new().await;
    let (db, statements, mut cursor) = outbox.cursor("relay").await;
    // The writers of a key take turns on its row. The second one had its xid first, for other work.
    let (mut first, mut second) = (outbox.database.admin().await, outbox.database.admin().await);
    let second = second.transaction().await.expect("begun");
    second.execute("SELECT pg_current_xact_id()", &[]).await.expect("a low xid");
    let first = first.transaction().await.expect("begun");
    let earlier = write(&first, TOPIC, "key", "version 1").await;
    first.commit().await.expect("committed");
    let later = write(&second, TOPIC, "key", "version 2").await;
    second.commit().await.expect("committed");
    assert!(earlier < later);

    // Every transaction below the earlier one's xid has ended: a window up to there, and then the rest.
    let cut = format!("SELECT xid::text FROM outbox.events WHERE seq = {earlier}");
    let cut = text(&outbox.admin, &cut).await;
    let cut_off = |side: &str| format!("SELECT seq FROM outbox.events WHERE xid {side} '{cut}' ORDER BY seq");
    let sent =
        [naive(&outbox.admin, &cut_off("<")).await, naive(&outbox.admin, &cut_off(">=")).await].concat();
    assert_eq!(sent, [later, earlier], "the key's order was kept: no counter-example");
    assert_eq!(relayed(&db, &statements, &mut cursor).await, [earlier, later]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_whose_end_is_only_remembered_skips_a_row_after_a_crash_that_gives_xids_out_again() {
    let server = PrivatePostgres::start(&[]);
    let outbox = outbox_in(TestDatabase::on_server(&server.url()).await).await;
    let (db, statements, mut cursor) = outbox.cursor("relay").await;
    assert_eq!(relayed(&db, &statements, &mut cursor).await, [0; 0]);
    server.freeze_log_writer().await;
    // Transactions that leave nothing behind, not even in the log on disk.
    let mut writer = outbox.database.admin().await;
    for number in 0..20 {
        let tx = writer.transaction().await.expect("begun");
        write(&tx, TOPIC, "a", &number.to_string()).await;
        tx.rollback().await.expect("rolled back");
    }
    // The naive relay takes a snapshot, finds no row between it and the one of before, and remembers that it was there.
    let remembered = text(&outbox.admin, "SELECT pg_current_snapshot()::text").await;
    server.crash().await;
    server.run();

    // A naive relay goes on from what it remembers; ours loads what is stored.
    let Outbox { database, .. } = outbox;
    let outbox = outbox_in(database).await;
    let seq = write(&outbox.writer, TOPIC, "a", "committed after the crash").await;
    let from_remembered =
        format!("SELECT seq FROM outbox.events WHERE NOT pg_visible_in_snapshot(xid, '{remembered}')");
    assert_eq!(
        naive(&outbox.admin, &from_remembered).await,
        [0; 0],
        "nothing was skipped: no counter-example"
    );
    let db = outbox.relay_role().await;
    let statements = Statements::prepare(&db).await.expect("prepared");
    statements.load(&db, &mut cursor).await.expect("loaded");
    assert_eq!(relayed(&db, &statements, &mut cursor).await, [seq]);
}

#[tokio::test]
async fn a_read_from_the_oldest_transaction_on_looks_at_every_row_since_and_the_windows_read_does_not() {
    let outbox = Outbox::new().await;
    let mut holder = outbox.database.admin().await;
    let held = holder.transaction().await.expect("begun");
    held.execute("SELECT pg_current_xact_id()", &[]).await.expect("an xid");
    let (db, statements, mut cursor) = outbox.cursor("relay").await;
    let fill = "INSERT INTO outbox.events (topic, key, event_id, header_names, header_values, payload) \
                SELECT 'events', 'k', 'evt', '{}', '{}', 'x' FROM generate_series(1, 5000)";
    for _ in 0..4 {
        outbox.run(fill).await;
    }
    assert_eq!(relayed(&db, &statements, &mut cursor).await.len(), 20_000);
    outbox.run("ANALYZE outbox.events").await;
    let seq = write(&outbox.writer, TOPIC, "a", "the next one").await;
    statements.open(&db, &mut cursor).await.expect("opened");

    let snapshot = |column: &str| format!("SELECT {column}::text FROM outbox.cursor");
    let from = text(&outbox.admin, &snapshot("from_snapshot")).await;
    let to = text(&outbox.admin, &snapshot("to_snapshot")).await;
    let from_oldest = "SELECT seq FROM outbox.events WHERE xid >= pg_snapshot_xmin($1::pg_snapshot) \
                       AND pg_visible_in_snapshot(xid, $2::pg_snapshot) AND NOT pg_visible_in_snapshot(xid, $1)";
    let naive = Plan::of(&db, CUSTOM, from_oldest, &format!("'{from}', '{to}'")).await;
    let by_xid = include_str!("../../../../crates/outbox/src/window/sql/page_by_xid.sql");
    let windows = Plan::of(&db, CUSTOM, by_xid, &format!("'{from}', '{to}', 0, 1000, 1000000, '{{}}'")).await;
    assert_eq!(seqs(&db, &statements, &cursor).await, [seq]);
    assert!(
        naive.blocks() > 4 * windows.blocks(),
        "{} blocks and {}: no counter-example",
        naive.blocks(),
        windows.blocks()
    );
    held.commit().await.expect("committed");
}
