//! How Postgres finds the rows of a window, on an outbox that holds many others.

use tokio_postgres::Client;
use waybill_outbox::window::{Method, PageLimits, Reading, Step};

use crate::fixtures::{Outbox, write};

/// Rows that were relayed long ago, over three daily partitions and few transactions: the statistics that make a
/// sequential scan look cheap.
const SEED: [&str; 4] = [
    "DO $$ BEGIN FOR part IN 0..5 LOOP
        INSERT INTO outbox.events (topic, key, event_id, header_names, header_values, payload, created_at)
        SELECT 'events', int8send(n), 'evt', ARRAY['a', 'b'], ARRAY['1'::bytea, '2'], decode(repeat('00', 200), 'hex'),
            now() + (n % 3) * interval '1 day'
        FROM generate_series(1, 10000) AS n;
        COMMIT;
    END LOOP; END $$",
    "VACUUM ANALYZE outbox.events",
    "UPDATE outbox.cursor SET from_snapshot = pg_current_snapshot(), to_snapshot = pg_current_snapshot()",
    "INSERT INTO outbox.events (topic, key, event_id, header_names, header_values, payload)
    SELECT 'events', 'k', 'evt', '{}', '{}', 'x' FROM generate_series(1, 20)",
];

/// Many more rows that were relayed, and a window that no read by xid should page through.
const RELAYED: &str = "INSERT INTO outbox.events
        (topic, key, event_id, header_names, header_values, payload, created_at)
    SELECT 'events', int8send(n), 'evt', '{}', '{}', decode(repeat('00', 200), 'hex'), now() + (n % 3) * interval '1 day'
    FROM generate_series(1, 200000) AS n";
const LARGE: &str = "INSERT INTO outbox.events (topic, key, event_id, header_names, header_values, payload)
    SELECT 'events', int8send(n), 'evt', '{}', '{}', decode(repeat('00', 200), 'hex')
    FROM generate_series(1, 20000) AS n";

/// The 8 kB blocks of the seeded rows and of their index, with some to spare: whoever holds a snapshot while they are
/// vacuumed makes an index-only scan look at the rows as well.
const MUCH_BLOCKS_MAX: u64 = 5_000;

/// More 8 kB blocks than the window above has, and far fewer than the rows before it.
const LARGE_BLOCKS_MAX: u64 = 2_000;

/// More 8 kB blocks than a read of 20 rows over all partitions needs, and far fewer than the table has.
const BLOCKS_MAX: u64 = 400;

pub(crate) struct Plan {
    text: String,
}

impl Plan {
    /// The plan as it ran, of a statement prepared with or without knowledge of its parameters.
    pub(crate) async fn of(db: &Client, mode: &str, sql: &str, parameters: &str) -> Self {
        db.batch_execute(&format!("SET plan_cache_mode = {mode}; PREPARE looked_at AS {sql}"))
            .await
            .expect("prepared");
        let explain = format!("EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) EXECUTE looked_at({parameters})");
        let lines = db.query(&explain, &[]).await.expect("a plan");
        db.batch_execute("DEALLOCATE looked_at").await.expect("forgotten");
        let text: Vec<String> = lines.iter().map(|line| line.get(0)).collect();
        Self { text: text.join("\n") }
    }

    /// Blocks that the whole execution touched: the topmost node counts those below it.
    pub(crate) fn blocks(&self) -> u64 {
        let line = self.text.lines().find(|line| line.trim_start().starts_with("Buffers: shared"));
        let counts = line.unwrap_or_default().split_whitespace().filter_map(|word| {
            let (name, count) = word.split_once('=')?;
            matches!(name, "hit" | "read").then(|| count.parse::<u64>().ok())?
        });
        counts.sum()
    }

    fn must_use(&self, indexes: &str) {
        self.must_use_within(indexes, BLOCKS_MAX);
    }

    fn must_use_within(&self, indexes: &str, blocks_max: u64) {
        // A partition without rows may be scanned: that is nothing.
        let scanned = self.text.lines().find(|line| {
            line.contains("Seq Scan on events")
                && !line.contains("never executed")
                && !line.contains("rows=0")
        });
        assert!(scanned.is_none(), "{}", self.text);
        assert!(self.text.contains(indexes), "{indexes} is not used:\n{}", self.text);
        assert!(self.blocks() <= blocks_max, "{} blocks:\n{}", self.blocks(), self.text);
        assert!(self.blocks() > 0, "no count of blocks:\n{}", self.text);
    }
}

macro_rules! statement {
    ($name:literal) => {
        include_str!(concat!("../../../../crates/outbox/src/window/sql/", $name, ".sql"))
    };
}

#[tokio::test]
async fn every_read_of_a_window_goes_through_an_index_with_and_without_known_parameters() {
    let outbox = Outbox::new().await;
    for step in SEED {
        outbox.run(step).await;
    }
    let db = outbox.relay_role().await;
    db.execute(statement!("session"), &[]).await.expect("set");
    let sql = "SELECT from_snapshot::text, pg_current_snapshot()::text,
                   pg_snapshot_xmax(from_snapshot)::text::bigint - 1,
                   pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1
               FROM outbox.cursor";
    let row = outbox.admin.query_one(sql, &[]).await.expect("the cursor");
    let (from, to): (String, String) = (row.get(0), row.get(1));
    let (seen_before, seen_now): (i64, i64) = (row.get(2), row.get(3));
    let newest = outbox.number("SELECT max(seq) FROM outbox.events").await;
    let middle = newest / 2;
    for mode in ["force_custom_plan", "force_generic_plan"] {
        let parameters = format!("'{seen_now}', '{{5,7}}', 0, 4001");
        let idle = Plan::of(&db, mode, statement!("pending"), &parameters).await;
        idle.must_use("xid_seq_idx");
        let parameters = format!("'{seen_before}', '{{}}', 0, 4001");
        let busy = Plan::of(&db, mode, statement!("pending"), &parameters).await;
        busy.must_use("xid_seq_idx");
        let parameters = format!("'{from}', '{to}', 0, 1000, 1000000, '{{5,7}}'");
        let steady = Plan::of(&db, mode, statement!("page_by_xid"), &parameters).await;
        steady.must_use("xid_seq_idx");
        let parameters = format!("'{from}', '{to}', 0, '{{5,7}}'");
        let survey = Plan::of(&db, mode, statement!("survey"), &parameters).await;
        survey.must_use("xid_seq_idx");
        let parameters = format!("'1:1:', '{to}', 0, '{{}}'");
        let survey_of_much = Plan::of(&db, mode, statement!("survey"), &parameters).await;
        survey_of_much.must_use_within("xid_seq_idx", MUCH_BLOCKS_MAX);
        survey_of_much.must_use_within("Index Only Scan", MUCH_BLOCKS_MAX);
        let parameters = format!("'1:1:', '{to}', {middle}, 100, 1000000, {newest}");
        let catching_up = Plan::of(&db, mode, statement!("page_by_seq"), &parameters).await;
        catching_up.must_use("pkey");
        catching_up.must_use("Merge Append");
    }
}

#[tokio::test]
async fn the_first_page_of_a_large_window_costs_a_page_however_much_was_relayed_before_it() {
    let outbox = Outbox::new().await;
    let (db, statements, mut cursor) = outbox.cursor("first").await;
    outbox.run(RELAYED).await;
    outbox.run("VACUUM ANALYZE outbox.events").await;
    statements.open(&db, &mut cursor).await.expect("opened");
    statements.drain(&db, &mut cursor, None).await.expect("drained");
    let relayed = outbox.number("SELECT max(seq) FROM outbox.events").await;
    outbox.run(LARGE).await;
    statements.open(&db, &mut cursor).await.expect("opened");

    let limits = PageLimits { rows_max: 1_000, bytes_max: 1_000_000 };
    let mut reading = Reading::of(&cursor.window);
    assert_eq!(reading.step(), Step::Survey { after_seq: 0 });
    let survey = statements.survey(&db, &cursor.window, 0).await.expect("a survey");
    reading.surveyed(survey, limits);
    let Step::Read { method: Method::BySeq { last_seq }, after_seq } = reading.step() else {
        panic!("{:?}", reading.step());
    };
    assert_eq!(after_seq, relayed, "right before the window's first row");

    let (from, to) = (&cursor.window.from, &cursor.window.to);
    let parameters = format!("'{from}', '{to}', 0, '{{}}'");
    let survey = Plan::of(&db, "force_generic_plan", statement!("survey"), &parameters).await;
    survey.must_use_within("xid_seq_idx", LARGE_BLOCKS_MAX);
    let parameters = format!("'{from}', '{to}', {after_seq}, 1000, 1000000, {last_seq}");
    let first_page = Plan::of(&db, "force_generic_plan", statement!("page_by_seq"), &parameters).await;
    first_page.must_use("pkey");
}

#[tokio::test]
async fn to_look_for_rows_costs_nothing_more_while_somebody_writes_many_and_has_not_committed() {
    let outbox = Outbox::new().await;
    let db = outbox.relay_role().await;
    db.execute(statement!("session"), &[]).await.expect("set");
    let last_xid = outbox.number("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1").await;
    let mut writer = outbox.database.role("api").await;
    let bulk = writer.transaction().await.expect("begun");
    let fill = "INSERT INTO outbox.events (topic, key, event_id, header_names, header_values, payload) \
                SELECT 'events', 'k', 'evt', '{}', '{}', 'x' FROM generate_series(1, 20000)";
    bulk.batch_execute(fill).await.expect("inserted");
    write(&outbox.writer, "events", "k", "one").await;
    let parameters = format!("'{last_xid}', '{{}}', 0, 4001");
    let plan = Plan::of(&db, "force_generic_plan", statement!("pending"), &parameters).await;
    plan.must_use("xid_seq_idx");
    bulk.rollback().await.expect("rolled back");
}
