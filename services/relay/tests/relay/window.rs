//! The window cursor, statement by statement, with the relay's own privileges.

use tokio_postgres::Transaction;
use waybill_outbox::hold::{Refused, open_row, park};
use waybill_outbox::window::{
    Batch, Held, Method, PageLimits, Statements, Survey, WindowError, acquire, release, renew, standing,
};

use crate::fixtures::{LONG, Outbox, WIDE, seqs, write};

const TOPIC: &str = "events";

#[tokio::test]
async fn a_low_seq_that_commits_after_higher_ones_were_sent_is_in_the_next_window() {
    let mut outbox = Outbox::new().await;
    let (db, statements, mut cursor) = outbox.cursor("first").await;
    let other = outbox.database.role("api").await;
    let late = outbox.writer.transaction().await.expect("begun");
    let low = write(&late, TOPIC, "a", "low").await;
    let high = write(&other, TOPIC, "b", "high").await;
    assert!(low < high);

    statements.open(&db, &mut cursor).await.expect("opened");
    assert_eq!(seqs(&db, &statements, &cursor).await, [high]);
    let batch = Batch { last_seq: high, events: 1 };
    statements.drain(&db, &mut cursor, Some(batch)).await.expect("drained");
    assert_eq!(
        statements.pending(&db, &cursor.window, WIDE).await.expect("an answer"),
        0,
        "not committed yet"
    );

    late.commit().await.expect("committed");
    assert_eq!(statements.pending(&db, &cursor.window, WIDE).await.expect("an answer"), 1);
    statements.open(&db, &mut cursor).await.expect("opened");
    assert_eq!(seqs(&db, &statements, &cursor).await, [low]);
}

#[tokio::test]
async fn a_transaction_of_somebody_else_neither_stalls_nor_hides_rows() {
    let outbox = Outbox::new().await;
    let (db, statements, mut cursor) = outbox.cursor("first").await;
    let mut holder = outbox.database.admin().await;
    let held = holder.transaction().await.expect("begun");
    held.execute("SELECT pg_current_xact_id()", &[]).await.expect("an xid of its own");
    let mut expected = Vec::new();
    for round in 0..3 {
        expected.push(write(&outbox.writer, TOPIC, "a", &format!("round {round}")).await);
        statements.open(&db, &mut cursor).await.expect("opened");
        assert_eq!(seqs(&db, &statements, &cursor).await, [*expected.last().expect("one")], "round {round}");
        statements.drain(&db, &mut cursor, None).await.expect("drained");
    }
    held.commit().await.expect("committed");
    assert_eq!(statements.pending(&db, &cursor.window, WIDE).await.expect("an answer"), 0, "it wrote no row");
}

#[tokio::test]
async fn rows_that_were_rolled_back_are_no_rows() {
    let mut outbox = Outbox::new().await;
    let (db, statements, mut cursor) = outbox.cursor("first").await;
    let mut tx = outbox.writer.transaction().await.expect("begun");
    let kept = write(&tx, TOPIC, "a", "kept").await;
    let nested = tx.savepoint("nested").await.expect("a subtransaction");
    write(&nested, TOPIC, "a", "taken back").await;
    nested.rollback().await.expect("rolled back");
    let nested = tx.savepoint("nested").await.expect("a subtransaction");
    let also_kept = write(&nested, TOPIC, "a", "kept, too").await;
    nested.commit().await.expect("released");
    tx.commit().await.expect("committed");
    let tx = outbox.writer.transaction().await.expect("begun");
    write(&tx, TOPIC, "a", "never").await;
    tx.rollback().await.expect("rolled back");
    statements.open(&db, &mut cursor).await.expect("opened");
    assert_eq!(seqs(&db, &statements, &cursor).await, [kept, also_kept]);
}

#[tokio::test]
async fn a_window_is_resumed_in_the_middle_by_whoever_takes_over() {
    let outbox = Outbox::new().await;
    let (db, statements, mut cursor) = outbox.cursor("first").await;
    let mut rows = Vec::new();
    for number in 0..5 {
        rows.push(write(&outbox.writer, TOPIC, "a", &number.to_string()).await);
    }
    statements.open(&db, &mut cursor).await.expect("opened");
    let later = write(&outbox.writer, TOPIC, "a", "later").await;
    statements.advance(&db, &mut cursor, Batch { last_seq: rows[1], events: 2 }).await.expect("advanced");
    outbox.expire().await;

    let (db, statements, mut next) = outbox.cursor("second").await;
    assert_eq!((next.fence, &next.window), (cursor.fence + 1, &cursor.window));
    assert_eq!(seqs(&db, &statements, &next).await, rows[2..]);
    let batch = Batch { last_seq: rows[4], events: 3 };
    statements.drain(&db, &mut next, Some(batch)).await.expect("drained");
    statements.open(&db, &mut next).await.expect("opened");
    assert_eq!(seqs(&db, &statements, &next).await, [later]);
    let acknowledged = outbox.number("SELECT sum(events)::bigint FROM outbox.batches").await;
    assert_eq!(acknowledged, 5);
}

#[tokio::test]
async fn an_old_fence_moves_nothing() {
    let outbox = Outbox::new().await;
    let (old_db, old_statements, mut old) = outbox.cursor("first").await;
    write(&outbox.writer, TOPIC, "a", "one").await;
    old_statements.open(&old_db, &mut old).await.expect("opened");
    outbox.expire().await;
    let (_db, _statements, new) = outbox.cursor("second").await;
    let before = outbox.place().await;

    let batch = Batch { last_seq: 1, events: 1 };
    let fenced = [
        old_statements.advance(&old_db, &mut old.clone(), batch).await,
        old_statements.drain(&old_db, &mut old.clone(), Some(batch)).await,
        old_statements.roll(&old_db, &mut old.clone(), Some(batch)).await,
        old_statements.load(&old_db, &mut old.clone()).await,
        renew(&old_db, old.fence, LONG).await,
    ];
    for outcome in fenced {
        assert!(
            matches!(outcome, Err(WindowError::Fenced { fence, .. }) if fence == old.fence),
            "{outcome:?}"
        );
    }
    release(&old_db, old.fence).await.expect("giving back another's lease is no error");
    assert_eq!(outbox.place().await, before);
    assert_eq!(outbox.number("SELECT count(*) FROM outbox.batches").await, 0);
    let standing = standing(&old_db).await.expect("an answer");
    assert_eq!((standing.fence, standing.holder.as_deref()), (new.fence, Some("second")));
}

#[tokio::test]
async fn moving_twice_from_one_place_changes_nothing_the_second_time() {
    let outbox = Outbox::new().await;
    let (db, statements, mut cursor) = outbox.cursor("first").await;
    let seq = write(&outbox.writer, TOPIC, "a", "one").await;
    statements.open(&db, &mut cursor).await.expect("opened");
    let before = cursor.clone();
    let batch = Batch { last_seq: seq, events: 1 };
    statements.advance(&db, &mut cursor, batch).await.expect("advanced");
    let again = statements.advance(&db, &mut before.clone(), batch).await;
    assert!(matches!(again, Err(WindowError::Fenced { .. })));
    statements.drain(&db, &mut cursor, None).await.expect("drained");
    let again = statements.drain(&db, &mut before.clone(), Some(batch)).await;
    assert!(again.is_err());
    assert_eq!(outbox.number("SELECT count(*) FROM outbox.batches").await, 1);
}

#[tokio::test]
async fn a_roll_ends_a_window_and_opens_the_next_once() {
    let outbox = Outbox::new().await;
    let (db, statements, mut cursor) = outbox.cursor("first").await;
    let first = write(&outbox.writer, TOPIC, "a", "one").await;
    statements.open(&db, &mut cursor).await.expect("opened");
    let second = write(&outbox.writer, TOPIC, "a", "two").await;
    let before = cursor.clone();
    let batch = Batch { last_seq: first, events: 1 };
    statements.roll(&db, &mut cursor, Some(batch)).await.expect("rolled");
    assert_eq!(cursor.window.from, before.window.to);
    assert_eq!(seqs(&db, &statements, &cursor).await, [second]);
    let again = statements.roll(&db, &mut before.clone(), Some(batch)).await;
    assert!(matches!(again, Err(WindowError::Fenced { .. })), "{again:?}");
    let mut loaded = cursor.clone();
    statements.load(&db, &mut loaded).await.expect("loaded");
    assert_eq!(loaded, cursor);

    statements.roll(&db, &mut cursor, None).await.expect("a window may be left without a batch");
    assert!(seqs(&db, &statements, &cursor).await.is_empty());
    assert_eq!(outbox.number("SELECT count(*) FROM outbox.batches").await, 1);
}

#[tokio::test]
async fn a_window_that_is_not_drained_is_never_left_behind() {
    let outbox = Outbox::new().await;
    let (db, statements, mut cursor) = outbox.cursor("first").await;
    write(&outbox.writer, TOPIC, "a", "one").await;
    statements.open(&db, &mut cursor).await.expect("opened");
    write(&outbox.writer, TOPIC, "a", "two").await;
    let place = outbox.place().await;
    assert!(matches!(statements.open(&db, &mut cursor).await, Err(WindowError::Fenced { .. })));
    assert_eq!(outbox.place().await, place);
}

/// How the transaction will commit. Whether the log was flushed in time cannot be seen from outside, because everybody's
/// commits flush it.
async fn durability(tx: Transaction<'_>) -> String {
    let row = tx.query_one("SHOW synchronous_commit", &[]).await.expect("a setting");
    tx.commit().await.expect("committed");
    row.get(0)
}

#[tokio::test]
async fn what_is_relied_on_is_on_disk_before_and_what_may_be_lost_waits_for_no_flush_whatever_the_session_says()
 {
    let outbox = Outbox::new().await;
    let mut db = outbox.relay_role().await;
    let statements = Statements::prepare(&db).await.expect("prepared");
    for session in ["off", "on"] {
        db.batch_execute(&format!("SET synchronous_commit = {session}")).await.expect("set");
        let row = write(&outbox.writer, TOPIC, "a", "one").await;
        let refused = write(&outbox.writer, TOPIC, session, "two").await;

        let tx = db.transaction().await.expect("begun");
        let taken = acquire(&tx, "first", LONG).await.expect("the database answers");
        let mut cursor = taken.expect("the lease is free");
        assert_eq!(durability(tx).await, "on", "a fence");
        let tx = db.transaction().await.expect("begun");
        statements.open(&tx, &mut cursor).await.expect("opened");
        assert_eq!(durability(tx).await, "on", "a window's opening");

        let tx = db.transaction().await.expect("begun");
        let acknowledged = Batch { last_seq: row, events: 1 };
        statements.advance(&tx, &mut cursor, acknowledged).await.expect("advanced");
        assert_eq!(durability(tx).await, "off", "a move");

        let refusal = Refused { seq: refused, code: "relay-row-refused", detail: "too large" };
        let opened = open_row(&db, cursor.fence, &refusal).await.expect("held");
        let tx = db.transaction().await.expect("begun");
        let held = [Held { seq: refused, hold_id: opened.hold_id, is_refused: true }];
        let parked = Batch { last_seq: refused, events: 0 };
        park(&tx, &mut cursor, parked, &held).await.expect("parked");
        assert_eq!(durability(tx).await, "on", "a parked row");

        let tx = db.transaction().await.expect("begun");
        statements.drain(&tx, &mut cursor, None).await.expect("drained");
        assert_eq!(durability(tx).await, "off", "a window's end");
        let tx = db.transaction().await.expect("begun");
        statements.open(&tx, &mut cursor).await.expect("opened");
        tx.commit().await.expect("committed");
        let tx = db.transaction().await.expect("begun");
        statements.roll(&tx, &mut cursor, None).await.expect("rolled");
        assert_eq!(durability(tx).await, "on", "a window's end that opens the next");
        statements.drain(&db, &mut cursor, None).await.expect("drained");

        let row = db.query_one("SHOW synchronous_commit", &[]).await.expect("a setting");
        assert_eq!(row.get::<_, &str>(0), session, "the session keeps its own");
        outbox.expire().await;
    }
}

#[tokio::test]
async fn both_reads_find_the_same_rows_in_pages_that_rows_or_bytes_bound() {
    let outbox = Outbox::new().await;
    let (db, statements, mut cursor) = outbox.cursor("first").await;
    let mut written = Vec::new();
    for number in 0..40 {
        let text = "x".repeat(10 * (number % 7) + 1);
        written.push(write(&outbox.writer, TOPIC, "a", &text).await);
    }
    statements.open(&db, &mut cursor).await.expect("opened");
    let last_seq = write(&outbox.writer, TOPIC, "a", "not of this window").await;
    let survey = statements.survey(&db, &cursor.window, 0).await.expect("a survey");
    let (first, last) = (written.first().copied(), written.last().copied());
    assert_eq!(survey, Survey { rows: 40, first_seq: first, last_seq: last });
    let survey = statements.survey(&db, &cursor.window, written[9]).await.expect("a survey");
    assert_eq!(survey, Survey { rows: 30, first_seq: Some(written[10]), last_seq: last });
    let survey = statements.survey(&db, &cursor.window, last_seq).await.expect("a survey");
    assert_eq!(survey, Survey { rows: 0, first_seq: None, last_seq: None });
    let by_rows = PageLimits { rows_max: 7, ..WIDE };
    let by_bytes = PageLimits { bytes_max: 300, ..WIDE };
    for method in [Method::ByXid, Method::BySeq { last_seq }] {
        for limits in [by_rows, by_bytes, WIDE] {
            let (mut read, mut after_seq) = (Vec::new(), 0);
            loop {
                let page = statements.read_page(&db, &cursor.window, method, after_seq, limits).await;
                let page = page.expect("a page");
                read.extend(page.rows.iter().map(|row| row.seq));
                after_seq = read.last().copied().unwrap_or_default();
                if !page.end(limits).is_full {
                    break;
                }
                assert!(!page.rows.is_empty(), "a bound never keeps a page from moving on");
            }
            assert_eq!(read, written, "{method:?} {limits:?}");
        }
    }
}

#[tokio::test]
async fn the_lease_is_taken_by_one_and_free_again_once_it_was_given_back() {
    let outbox = Outbox::new().await;
    let (db, _, cursor) = outbox.cursor("first").await;
    assert!(acquire(&db, "second", LONG).await.expect("an answer").is_none());
    let held = standing(&db).await.expect("an answer");
    assert!(held.remaining > LONG / 2, "{held:?}");
    release(&db, cursor.fence).await.expect("given back");
    let taken = acquire(&db, "second", LONG).await.expect("an answer").expect("free");
    assert_eq!(taken.fence, cursor.fence + 1);
    db.batch_execute("SET search_path = pg_temp").await.expect("set");
    let missing = standing(&db).await;
    assert!(matches!(missing, Err(WindowError::Missing)), "{missing:?}");
}
