//! After a restore: from a dump, read into a server that gives the same transaction ids out again, and from a copy of the
//! files, at a point in time. Nothing is left out, and what was passed is not sent again.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use tokio_postgres::types::Type;
use waybill_outbox::parked::look_into;
use waybill_outbox::rebase::{Grounds, Refusal, Wanted, Way, rebase};
use waybill_outbox::window::Batch;
use waybill_relay::codes::RELAY_DATABASE_CHANGED;
use waybill_testkit::{PrivatePostgres, TestDatabase, eventually};

use crate::fixtures::{House, Outbox, first_occurrences, seqs, write};

/// As somebody would who takes a restore for a switchover.
const ONLY_THE_IDENTITY: &str = "UPDATE outbox.cursor SET (system_identifier, timeline) = \
    (SELECT system_identifier, timeline FROM outbox.server_identity())";

/// What a dump holds of an outbox, read in as `psql` does: one transaction, the rows with the xids that they had.
async fn read_in(from: &Outbox, to: &mut Outbox) {
    let rows = "SELECT seq, xid::text, topic, key, event_id, header_names, header_values, payload, created_at::text \
        FROM outbox.events ORDER BY seq";
    let rows = from.admin.query(rows, &[]).await.expect("rows");
    let tx = to.admin.transaction().await.expect("a transaction");
    for row in &rows {
        let insert = "INSERT INTO outbox.events \
            (seq, xid, topic, key, event_id, header_names, header_values, payload, created_at) \
            OVERRIDING SYSTEM VALUE VALUES ($1, $2::text::xid8, $3, $4, $5, $6, $7, $8, $9::text::timestamptz)";
        let parameters: &[(&(dyn tokio_postgres::types::ToSql + Sync), Type)] = &[
            (&row.get::<_, i64>(0), Type::INT8),
            (&row.get::<_, String>(1), Type::TEXT),
            (&row.get::<_, String>(2), Type::TEXT),
            (&row.get::<_, Option<Vec<u8>>>(3), Type::BYTEA),
            (&row.get::<_, String>(4), Type::TEXT),
            (&row.get::<_, Vec<String>>(5), Type::TEXT_ARRAY),
            (&row.get::<_, Vec<Option<Vec<u8>>>>(6), Type::BYTEA_ARRAY),
            (&row.get::<_, Option<Vec<u8>>>(7), Type::BYTEA),
            (&row.get::<_, String>(8), Type::TEXT),
        ];
        tx.execute_typed(insert, parameters).await.expect("a row");
    }
    let cursor = "SELECT format('UPDATE outbox.cursor SET from_snapshot = %L, to_snapshot = %L, after_seq = %s, \
        fence = %s, system_identifier = %L, timeline = %s', from_snapshot, to_snapshot, after_seq, fence, \
        system_identifier, timeline) FROM outbox.cursor";
    let cursor: String = from.admin.query_one(cursor, &[]).await.expect("the cursor").get(0);
    tx.batch_execute(&cursor).await.expect("the cursor");
    let last = rows.last().map_or(1, |row| row.get::<_, i64>(0));
    let sequence = format!("SELECT setval(pg_get_serial_sequence('outbox.events', 'seq'), {last})");
    tx.batch_execute(&sequence).await.expect("the sequence");
    tx.commit().await.expect("committed");
}

/// 1 to 3 were sent; of a window with 4 to 6 the first was acknowledged; 7 was committed after that window.
async fn half_sent(house: &House) {
    let relay = house.relay(&house.settings());
    for text in ["1", "2", "3"] {
        house.write("a", text).await;
    }
    house.drained().await;
    relay.end().await;
    let mut last_seqs = Vec::new();
    for text in ["4", "5", "6"] {
        last_seqs.push(write(&house.outbox.writer, &house.topic, "a", text).await);
    }
    let (db, statements, mut cursor) = house.outbox.cursor("half").await;
    statements.open(&db, &mut cursor).await.expect("opened");
    let batch = Batch { last_seq: last_seqs[0], events: 1 };
    statements.advance(&db, &mut cursor, batch).await.expect("moved");
    write(&house.outbox.writer, &house.topic, "a", "7").await;
}

/// The same outbox on a server that has given out fewer transaction ids.
async fn restored_from_a_dump(house: House) -> (PrivatePostgres, House) {
    let server = PrivatePostgres::start(&[]);
    let mut outbox = Outbox::of(TestDatabase::on_server(&server.url()).await).await;
    let next = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint";
    let first = "SELECT min(xid::text::bigint) FROM outbox.events";
    assert!(outbox.number(next).await < house.outbox.number(first).await, "its xids come again");
    read_in(&house.outbox, &mut outbox).await;
    let House { topics, topic, .. } = house;
    (server, House { outbox, topics, topic })
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_dump_was_read_in_nothing_is_left_out_and_what_was_passed_is_not_sent_again() {
    let house = House::new(1).await;
    half_sent(&house).await;
    let (_server, house) = restored_from_a_dump(house).await;
    house.write("a", "8").await;
    let relay = house.relay(&house.settings());
    relay.degraded(RELAY_DATABASE_CHANGED).await;

    let rebased = house.outbox.rebase().await;
    assert_eq!(rebased.way, Way::Resend(Grounds::Dump));
    let rows =
        |rows: &[waybill_outbox::rebase::TopicRows]| rows.iter().map(|rows| rows.rows).collect::<Vec<_>>();
    assert_eq!((rows(&rebased.before), rows(&rebased.after)), (vec![3], vec![1]));
    house.write("a", "9").await;
    let delivered = house.delivered_up_to("9").await;
    assert_eq!(delivered, ["1", "2", "3", "5", "6", "7", "8", "9"], "4 was passed before the restore");
    let done = "SELECT count(*) FROM outbox.cursor WHERE resend_after_seq IS NULL AND floor_seq > 0";
    eventually("the resend has ended", async || (house.outbox.number(done).await == 1).then_some(())).await;
    relay.end().await;

    // Another relay goes on from there, and the rows of before stay behind it though their xids come again.
    let next = house.relay(&house.settings());
    house.write("a", "10").await;
    assert_eq!(house.delivered_up_to("10").await.len(), 9);
    next.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_that_is_only_given_the_new_identity_takes_a_new_row_for_one_that_was_sent() {
    let house = House::new(1).await;
    half_sent(&house).await;
    let (_server, house) = restored_from_a_dump(house).await;
    let lost = house.write("a", "8").await;
    let outbox = &house.outbox;
    outbox.run(ONLY_THE_IDENTITY).await;
    let (db, statements, mut cursor) = outbox.cursor("naive").await;
    assert_eq!(seqs(&db, &statements, &cursor).await.len(), 2, "5 and 6, of before");
    let before = cursor.window.to.clone();
    statements.drain(&db, &mut cursor, None).await.expect("drained");
    statements.open(&db, &mut cursor).await.expect("opened");
    assert!(cursor.window.to.xmax() < before.xmax(), "this server is not as far");
    assert!(!seqs(&db, &statements, &cursor).await.contains(&lost), "a committed row that nobody sends");
}

#[tokio::test]
async fn rows_that_were_restored_without_their_sequence_are_not_guessed_apart() {
    let old = Outbox::new().await;
    for text in ["1", "2", "3", "4"] {
        write(&old.writer, "events", "a", text).await;
    }
    drop(old.cursor("first").await);
    let server = PrivatePostgres::start(&[]);
    let mut outbox = Outbox::of(TestDatabase::on_server(&server.url()).await).await;
    read_in(&old, &mut outbox).await;
    outbox.run("SELECT setval(pg_get_serial_sequence('outbox.events', 'seq'), 2)").await;
    write(&outbox.writer, "events", "b", "5").await;
    let mut owner = outbox.database.admin().await;

    let tx = owner.transaction().await.expect("a transaction");
    look_into(&tx, "outbox").await.expect("the outbox");
    let refused = rebase(&tx, Wanted::default()).await.expect("an answer");
    assert_eq!(refused.err(), Some(Refusal::Interleaved { own_seq: 3, foreign_seq: 4 }));
    tx.rollback().await.expect("rolled back");
    let tx = owner.transaction().await.expect("a transaction");
    look_into(&tx, "outbox").await.expect("the outbox");
    let all = Wanted { all: true, ..Wanted::default() };
    let rebased = rebase(&tx, all).await.expect("an answer").expect("no refusal");
    assert_eq!(rebased.way, Way::Everything(Grounds::Asked));
    assert_eq!(rebased.before.iter().map(|rows| rows.rows).sum::<i64>(), 5, "also the new one among them");
    tx.commit().await.expect("committed");
    assert!(write(&outbox.writer, "events", "b", "6").await > 4, "the sequence goes on above all of it");
}

/// The files of a server that was ended, put aside and put back.
struct Files {
    data: PathBuf,
    aside: PathBuf,
}

impl Files {
    async fn put_aside(server: &PrivatePostgres, outbox: &Outbox) -> Self {
        let row = outbox.admin.query_one("SHOW data_directory", &[]).await.expect("a path");
        let data = PathBuf::from(row.get::<_, String>(0));
        let aside = data.with_extension("aside");
        server.crash().await;
        copy(&data, &aside);
        Self { data, aside }
    }

    /// Puts them back as an archive would: what follows is a history of its own.
    fn put_back(&self) {
        fs::remove_dir_all(&self.data).expect("removed");
        copy(&self.aside, &self.data);
        fs::write(self.data.join("recovery.signal"), "").expect("written");
        let settings = self.data.join("postgresql.auto.conf");
        let said = fs::read_to_string(&settings).expect("settings");
        fs::write(settings, format!("{said}\nrestore_command = 'false'\n")).expect("written");
    }
}

fn copy(from: &PathBuf, to: &PathBuf) {
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status().expect("cp runs");
    assert!(copied.success(), "{} to {}", from.display(), to.display());
}

/// Connects again to a server that was ended, once it takes writes.
async fn reconnect(house: &mut House) {
    let outbox = &mut house.outbox;
    outbox.admin = outbox.database.admin().await;
    let recovering = "SELECT pg_is_in_recovery()::int::bigint";
    eventually("the server takes writes", async || (outbox.number(recovering).await == 0).then_some(()))
        .await;
    outbox.writer = outbox.database.role("api").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_were_put_back_count_on_and_a_transaction_id_that_comes_again_hides_no_row() {
    let server = PrivatePostgres::start(&[]);
    let topics = waybill_testkit::TestTopics::fresh();
    let topic = topics.create("events", 1).await;
    let outbox = Outbox::of(TestDatabase::on_server(&server.url()).await).await;
    let mut house = House { outbox, topics, topic };
    let relay = house.relay(&house.settings());
    house.write("a", "1").await;
    house.write("a", "2").await;
    house.drained().await;
    relay.end().await;
    let files = Files::put_aside(&server, &house.outbox).await;
    server.run();
    reconnect(&mut house).await;
    let relay = house.relay(&house.settings());
    house.write("a", "3").await;
    house.drained().await;
    relay.end().await;
    let next = house.outbox.number("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint").await;
    server.crash().await;
    files.put_back();
    server.run();
    reconnect(&mut house).await;

    let relay = house.relay(&house.settings());
    relay.degraded(RELAY_DATABASE_CHANGED).await;
    let seq = house.write("a", "4").await;
    let xid =
        house.outbox.number(&format!("SELECT xid::text::bigint FROM outbox.events WHERE seq = {seq}")).await;
    assert!(xid < next, "{xid} was given out before, on the history that is gone");
    assert_eq!(house.outbox.rebase().await.way, Way::Continue);
    house.drained().await;
    assert_eq!(first_occurrences(&house.delivered().await), ["1", "2", "3", "4"]);
    relay.end().await;
}
