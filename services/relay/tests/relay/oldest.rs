//! The age of the oldest row that the cursor has not passed: as it is, and without looking at the rows that it has.

use tokio_postgres::{Client, GenericClient};
use waybill_outbox::status;
use waybill_outbox::window::{Batch, Cursor, Statements};
use waybill_testkit::{PrivatePostgres, TestDatabase};

use crate::fixtures::Outbox;

/// More than is ever looked at for one answer, and far fewer than are passed in a test.
const LOOKED_AT_MAX: i64 = 3_000;

/// The 8 kB blocks of tables and indexes in which so many rows are looked at, and far fewer than a large transaction's.
const BLOCKS_MAX: i64 = 1_000;

/// Rows that a window is passed over.
const MANY: i64 = 30_000;

/// The rows of a transaction that nobody may look at, each of a kilobyte and more: seven in a block.
const BULK: &str = "INSERT INTO outbox.events
        (topic, key, event_id, header_names, header_values, payload, created_at)
    SELECT 'events', int8send(n), 'evt', '{}', '{}', decode(repeat('00', 1000), 'hex'),
        date_trunc('day', now() + interval '1 day')
    FROM generate_series(1, 20000) AS n";

/// The oldest row's time, by the definition of what waits.
const BY_DEFINITION: &str = "SELECT min(created_at) FROM outbox.events, outbox.cursor
    WHERE CASE WHEN resend_after_seq IS NULL THEN
            seq > floor_seq
            AND NOT pg_visible_in_snapshot(xid, from_snapshot)
            AND NOT (pg_visible_in_snapshot(xid, to_snapshot) AND seq <= after_seq)
        ELSE
            seq > floor_seq
            OR (
                seq > resend_after_seq
                AND NOT pg_visible_in_snapshot(xid, from_snapshot)
                AND NOT (pg_visible_in_snapshot(xid, to_snapshot) AND seq <= after_seq)
            )
        END";

/// What this transaction has looked at: rows, and blocks of tables and indexes.
const LOOKED_AT: &str = "SELECT
        sum(pg_stat_get_xact_tuples_returned(oid) + pg_stat_get_xact_tuples_fetched(oid))
            FILTER (WHERE relkind = 'r')::bigint,
        sum(pg_stat_get_xact_blocks_fetched(oid))::bigint
    FROM pg_class
    WHERE relnamespace = 'outbox'::regnamespace AND relname ~ '^events_'";

/// What a look costs.
struct Cost {
    rows: i64,
    blocks: i64,
}

/// An outbox, its relay's connection, and somebody who looks.
struct Watched {
    outbox: Outbox,
    relay: Client,
    statements: Statements,
    cursor: Cursor,
    looking: Client,
}

impl Watched {
    async fn new() -> Self {
        Self::of(Outbox::new().await).await
    }

    async fn of(outbox: Outbox) -> Self {
        let (relay, statements, cursor) = outbox.cursor("first").await;
        let looking = outbox.relay_role().await;
        Self { outbox, relay, statements, cursor, looking }
    }

    /// Commits so many rows in one transaction that began so many minutes into tomorrow, and answers the last one.
    async fn write(&self, rows: i64, minute: i64) -> i64 {
        write(&self.outbox.admin, rows, minute).await
    }

    async fn open(&mut self) {
        self.statements.open(&self.relay, &mut self.cursor).await.expect("opened");
    }

    async fn advance(&mut self, last_seq: i64) {
        let batch = Batch { last_seq, events: 1 };
        self.statements.advance(&self.relay, &mut self.cursor, batch).await.expect("moved");
    }

    async fn drain(&mut self) {
        self.statements.drain(&self.relay, &mut self.cursor, None).await.expect("drained");
    }

    async fn leave(&mut self) {
        self.statements.leave(&self.relay, &mut self.cursor, None).await.expect("left");
    }

    /// How many rows were looked at for the answer, which is the right one.
    async fn looks(&mut self, case: &str) -> i64 {
        self.cost(case).await.rows
    }

    /// How many blocks were.
    async fn blocks(&mut self, case: &str) -> i64 {
        self.cost(case).await.blocks
    }

    async fn cost(&mut self, case: &str) -> Cost {
        let oldest = self.outbox.admin.query_one(BY_DEFINITION, &[]).await.expect("an answer");
        let tx = self.looking.transaction().await.expect("begun");
        let before = tx.query_one(LOOKED_AT, &[]).await.expect("a count");
        let position = status::position(&tx).await.expect("an answer").expect("a cursor");
        assert_eq!(status::oldest(&tx, &position).await.expect("an answer"), oldest.get(0), "{case}");
        let after = tx.query_one(LOOKED_AT, &[]).await.expect("a count");
        let more = |column: usize| after.get::<_, i64>(column) - before.get::<_, i64>(column);
        Cost { rows: more(0), blocks: more(1) }
    }
}

async fn write(db: &impl GenericClient, rows: i64, minute: i64) -> i64 {
    let sql = "WITH written AS (
            INSERT INTO outbox.events
                (topic, key, event_id, header_names, header_values, payload, created_at)
            SELECT 'events', int8send(n), 'evt', '{}', '{}', 'x',
                date_trunc('day', now() + interval '1 day') + make_interval(mins => $2::bigint::integer)
            FROM generate_series(1, $1::bigint) AS n
            RETURNING seq
        )
        SELECT max(seq) FROM written";
    db.query_one(sql, &[&rows, &minute]).await.expect("written").get(0)
}

#[tokio::test]
async fn the_oldest_row_is_found_without_looking_at_what_an_open_window_has_passed() {
    let mut watched = Watched::new().await;
    let last = watched.write(MANY, 10).await;
    assert!(watched.looks("a backlog that no relay has seen").await <= LOOKED_AT_MAX);
    watched.open().await;
    assert!(watched.looks("a window of which nothing is passed").await <= LOOKED_AT_MAX);
    watched.advance(last - 10).await;
    watched.write(10, 20).await;
    assert!(watched.looks("a window that is passed almost to its end").await <= LOOKED_AT_MAX);
    watched.advance(last).await;
    assert!(watched.looks("a window that is passed, and rows behind it").await <= LOOKED_AT_MAX);
    watched.drain().await;
    assert!(watched.looks("rows behind a drained window").await <= LOOKED_AT_MAX);
    watched.open().await;
    assert!(watched.looks("a window behind many rows of others").await <= LOOKED_AT_MAX);
    watched.drain().await;
    assert!(watched.looks("nothing").await <= LOOKED_AT_MAX);
}

#[tokio::test]
async fn the_oldest_row_may_have_a_seq_that_was_passed_long_ago() {
    let mut watched = Watched::new().await;
    let mut other = watched.outbox.database.admin().await;
    let late = other.transaction().await.expect("begun");
    let low = write(&late, 100, 10).await;
    let last = watched.write(MANY, 20).await;
    watched.open().await;
    watched.advance(last - 10).await;
    late.commit().await.expect("committed");
    assert!(watched.looks("it committed behind an open window").await <= LOOKED_AT_MAX);
    watched.drain().await;
    assert!(watched.looks("it committed behind a drained window").await <= LOOKED_AT_MAX);

    watched.write(10, 30).await;
    watched.open().await;
    assert!(watched.looks("the next window begins with it").await <= LOOKED_AT_MAX);
    watched.advance(low).await;
    watched.looks("the next window's other rows come long after it").await;
}

#[tokio::test]
async fn a_transaction_of_many_rows_hides_none_that_began_before_it_and_wrote_after_it() {
    let mut watched = Watched::new().await;
    watched.open().await;
    watched.drain().await;
    watched.write(300, 20).await;
    watched.write(1, 10).await;
    assert!(watched.looks("the second transaction began first").await <= LOOKED_AT_MAX);
}

#[tokio::test]
async fn what_a_large_transaction_wrote_is_not_looked_at_while_it_is_open_and_once_it_was_rolled_back() {
    let mut watched = Watched::new().await;
    let passed = watched.write(10, 10).await;
    let mut other = watched.outbox.database.admin().await;
    let bulk = other.transaction().await.expect("begun");
    bulk.batch_execute(BULK).await.expect("written");
    watched.write(10, 20).await;
    watched.open().await;
    watched.advance(passed).await;
    let blocks = watched.blocks("it is open between what was passed and what is left").await;
    assert!(blocks <= BLOCKS_MAX, "{blocks} blocks");

    bulk.rollback().await.expect("rolled back");
    watched.looks("it was rolled back, and Postgres marks its rows").await;
    let blocks = watched.blocks("it was rolled back behind the window").await;
    assert!(blocks <= BLOCKS_MAX, "{blocks} blocks");
    watched.drain().await;
    watched.looks("it is the one that the window had not seen").await;

    let passed = watched.write(10, 30).await;
    let bulk = other.transaction().await.expect("begun");
    bulk.batch_execute(BULK).await.expect("written");
    bulk.rollback().await.expect("rolled back");
    watched.write(10, 40).await;
    watched.open().await;
    watched.advance(passed).await;
    watched.looks("it was rolled back within the window, and Postgres marks its rows").await;
    let blocks = watched.blocks("it was rolled back within the window").await;
    assert!(blocks <= BLOCKS_MAX, "{blocks} blocks");
}

#[tokio::test]
async fn rows_of_before_a_restore_are_found_in_each_window_of_them_and_after_it() {
    let mut watched = Watched::new().await;
    watched.write(10, 10).await;
    watched.open().await;
    watched.drain().await;
    let middle = watched.write(MANY, 30).await - MANY / 2;
    watched.open().await;
    let last = watched.write(10, 40).await;
    let first = last - 10 - MANY;
    let restored = format!(
        "UPDATE outbox.cursor SET (floor_seq, resend_after_seq, after_seq) = ({last}, {first}, {first})"
    );
    watched.outbox.run(&restored).await;
    watched.outbox.run("ANALYZE outbox.events").await;
    watched.statements.load(&watched.relay, &mut watched.cursor).await.expect("loaded");
    assert!(watched.looks("the window of before the restore").await <= LOOKED_AT_MAX);
    watched.advance(middle).await;
    watched.write(10, 15).await;
    let rows = watched.looks("it is passed in part, and a row of its own is older").await;
    assert!(rows <= LOOKED_AT_MAX, "{rows} rows");
    watched.advance(last - 10).await;
    assert!(watched.looks("it is passed").await <= LOOKED_AT_MAX);

    watched.leave().await;
    watched.looks("all that it had not seen").await;
    watched.advance(last).await;
    assert!(watched.looks("all of before the restore is passed").await <= LOOKED_AT_MAX);
    watched.leave().await;
    assert!(watched.looks("the first window of its own").await <= LOOKED_AT_MAX);
}

#[tokio::test]
async fn two_hundred_transactions_that_are_open_are_stepped_over_until_they_end() {
    const OPEN: i64 = 200;
    /// A stretch before each of them is searched, in every partition.
    const BLOCKS_MAX: i64 = OPEN * 40;
    let server = PrivatePostgres::start(&["max_prepared_transactions=250"]);
    let database = TestDatabase::on_server(&server.url()).await;
    let mut watched = Watched::of(Outbox::of(database).await).await;
    watched.open().await;
    watched.drain().await;
    let writer = watched.outbox.database.admin().await;
    for n in 1..=OPEN {
        writer.batch_execute("BEGIN").await.expect("begun");
        write(&writer, 1, 10).await;
        writer.batch_execute(&format!("PREPARE TRANSACTION 'open-{n}'")).await.expect("prepared");
        writer.batch_execute("SELECT pg_current_xact_id()").await.expect("a transaction in between");
    }
    let blocks = watched.blocks("nothing but open transactions").await;
    assert!(blocks <= BLOCKS_MAX, "{blocks} blocks");
    watched.write(10, 20).await;
    let cost = watched.cost("a row behind all of them").await;
    assert!(cost.rows <= LOOKED_AT_MAX && cost.blocks <= BLOCKS_MAX, "{} blocks", cost.blocks);
    for n in 1..=OPEN {
        writer.batch_execute(&format!("COMMIT PREPARED 'open-{n}'")).await.expect("committed");
    }
    assert!(watched.looks("they were committed").await <= LOOKED_AT_MAX);
}
