//! The age of the oldest row that the cursor has not passed: as it is, and without looking at the rows that it has.

use tokio_postgres::{Client, GenericClient};
use waybill_outbox::status;
use waybill_outbox::window::{Batch, Cursor, Statements};

use crate::fixtures::Outbox;

/// More than is ever looked at for one answer, and far fewer than are passed in a test.
const LOOKED_AT_MAX: i64 = 3_000;

/// Rows that a window is passed over.
const MANY: i64 = 30_000;

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
        let outbox = Outbox::new().await;
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

    /// How many rows were looked at for the answer, which is the right one.
    async fn looks(&mut self, case: &str) -> i64 {
        let by_definition = "SELECT min(created_at) FROM outbox.events, outbox.cursor
            WHERE NOT pg_visible_in_snapshot(xid, from_snapshot)
                AND NOT (pg_visible_in_snapshot(xid, to_snapshot) AND seq <= after_seq)";
        let row = self.outbox.admin.query_one(by_definition, &[]).await.expect("an answer");
        let tx = self.looking.transaction().await.expect("begun");
        let position = status::position(&tx).await.expect("an answer").expect("a cursor");
        assert_eq!(status::oldest(&tx, &position).await.expect("an answer"), row.get(0), "{case}");
        let looked_at = "SELECT sum(seq_tup_read + idx_tup_fetch)::bigint FROM pg_stat_xact_user_tables
            WHERE schemaname = 'outbox' AND relname ~ '^events_'";
        tx.query_one(looked_at, &[]).await.expect("a count").get(0)
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
