//! How Postgres finds what an operator asks for, beside much that was settled long ago.

use tokio_postgres::Client;
use tokio_postgres::types::{ToSql, Type};
use waybill_outbox::window::{Snapshot, Xid};
use waybill_testkit::Plan;

use crate::fixtures::Outbox;

/// Rows that were relayed, batches that moved the cursor, holds that ended and rows that were sent after all; and a little
/// of each that is open.
const SEED: &str = "
    INSERT INTO outbox.events (topic, key, event_id, header_names, header_values, payload, created_at)
    SELECT 'events', int8send(n), 'evt', '{}', '{}', decode(repeat('00', 100), 'hex'), now() + (n % 3) * interval '1 day'
    FROM generate_series(1, 30000) AS n;
    UPDATE outbox.cursor SET from_snapshot = pg_current_snapshot(), to_snapshot = pg_current_snapshot();
    INSERT INTO outbox.batches (fence, from_snapshot, to_snapshot, after_seq, last_seq, events, acknowledged_at)
    SELECT 1, '1:1:', '1:1:', n, n + 1, 1, now() + (n % 3) * interval '1 day' FROM generate_series(1, 20000) AS n;
    INSERT INTO outbox.holds (scope, topic, key, code, detail, ended_at)
    SELECT 'key', 'shop.' || n % 10, int8send(n), 'relay-row-refused', 'large', now() FROM generate_series(1, 5000) AS n;
    INSERT INTO outbox.holds (scope, topic, key, code, detail)
    SELECT 'key', 'shop.' || n % 10, int8send(n), 'relay-row-refused', 'large' FROM generate_series(5001, 5010) AS n;
    INSERT INTO outbox.parked
        (seq, hold_id, state, xid, topic, key, event_id, header_names, header_values, created_at, sent_at, code)
    SELECT n, n % 5000 + 1, 'sent', '7', 'shop.' || n % 10, int8send(n), 'evt', '{}', '{}', now(), now(), 'a-code'
    FROM generate_series(1, 30000) AS n;
    INSERT INTO outbox.parked (seq, hold_id, state, xid, topic, key, event_id, header_names, header_values, created_at, code)
    SELECT n, 5000 + n % 10 + 1, 'refused', '7', 'shop.1', 'k', 'evt', '{}', '{}', now(), 'a-code'
    FROM generate_series(30001, 30100) AS n;
    ANALYZE outbox.events, outbox.batches, outbox.holds, outbox.parked";

macro_rules! statement {
    ($path:literal) => {
        include_str!(concat!("../../../../crates/outbox/src/", $path, ".sql"))
    };
}

type Parameters<'a> = &'a [(&'a (dyn ToSql + Sync), Type)];

/// The partitions that hold rows.
async fn filled(outbox: &Outbox) -> Vec<String> {
    let sql = "SELECT DISTINCT tableoid::regclass::text FROM outbox.events UNION \
        SELECT DISTINCT tableoid::regclass::text FROM outbox.batches";
    let rows = outbox.admin.query(sql, &[]).await.expect("names");
    rows.iter().map(|row| row.get::<_, String>(0).replace("outbox.", "")).collect()
}

struct House {
    db: Client,
    filled: Vec<String>,
}

impl House {
    async fn new() -> (Outbox, Self) {
        let outbox = Outbox::new().await;
        outbox.run(SEED).await;
        let db = outbox.database.role("api").await;
        db.batch_execute("SET search_path = outbox").await.expect("set");
        let filled = filled(&outbox).await;
        (outbox, Self { db, filled })
    }

    /// Every partition with rows, and every other table, is read through an index; this one among them.
    async fn finds(&self, sql: &str, parameters: Parameters<'_>, index: &str) {
        let plan = Plan::of(&self.db, sql, parameters).await;
        assert!(plan.indexes.iter().any(|used| used.contains(index)), "{index} is not read by\n{plan}");
        let scanned = plan
            .scanned
            .iter()
            .find(|table| self.filled.contains(table) || ["holds", "parked"].contains(&table.as_str()));
        assert!(scanned.is_none(), "{scanned:?} is scanned by\n{plan}");
    }
}

#[tokio::test]
async fn what_waits_and_how_fast_is_found_through_indexes() {
    let (outbox, house) = House::new().await;
    let now = "SELECT pg_current_snapshot()";
    let now: Snapshot = outbox.admin.query_one(now, &[]).await.expect("a snapshot").get(0);
    let in_progress: &[Xid] = &[Xid(5), Xid(7)];
    let window: Parameters<'_> = &[
        (&now, Type::PG_SNAPSHOT),
        (&now, Type::PG_SNAPSHOT),
        (&0_i64, Type::INT8),
        (&0_i64, Type::INT8),
        (&in_progress, Type::XID8_ARRAY),
        (&100_000_i64, Type::INT8),
    ];
    house.finds(statement!("status/waiting"), window, "xid_seq_idx").await;
    let unseen: Parameters<'_> = &[
        (&in_progress, Type::XID8_ARRAY),
        (&in_progress, Type::XID8_ARRAY),
        (&0_i64, Type::INT8),
        (&100_i64, Type::INT8),
    ];
    house.finds(statement!("status/unseen"), unseen, "xid_seq_idx").await;
    let nothing = Snapshot::of_nothing();
    let left_over: Parameters<'_> = &[
        (&nothing, Type::PG_SNAPSHOT),
        (&now, Type::PG_SNAPSHOT),
        (&10_000_i64, Type::INT8),
        (&1_000_i64, Type::INT8),
    ];
    house.finds(statement!("status/left_over"), left_over, "pkey").await;
    let resent: Parameters<'_> = &[
        (&now, Type::PG_SNAPSHOT),
        (&now, Type::PG_SNAPSHOT),
        (&0_i64, Type::INT8),
        (&29_000_i64, Type::INT8),
        (&28_000_i64, Type::INT8),
        (&100_i64, Type::INT8),
    ];
    house.finds(statement!("status/to_resend"), resent, "pkey").await;
    let rate: Parameters<'_> = &[(&60.0_f64, Type::FLOAT8), (&100_i64, Type::INT8)];
    house.finds(statement!("status/rate"), rate, "pkey").await;
    house.finds(statement!("rebase/last_batch"), &[], "pkey").await;
}

#[tokio::test]
async fn what_is_held_and_parked_is_found_through_indexes() {
    let (_outbox, house) = House::new().await;
    let nobody: Option<&str> = None;
    house
        .finds(statement!("status/holds"), &[(&100_i64, Type::INT8), (&1000_i64, Type::INT8)], "holds_open")
        .await;
    house.finds(statement!("status/count_holds"), &[], "holds_open").await;
    let undecided: Parameters<'_> = &[
        (&nobody, Type::TEXT),
        (&nobody, Type::TEXT),
        (&nobody, Type::TEXT),
        (&0_i64, Type::INT8),
        (&0_i64, Type::INT8),
        (&100_i64, Type::INT8),
    ];
    house.finds(statement!("parked/undecided"), undecided, "parked_open").await;
    let discarded: Parameters<'_> = &[
        (&nobody, Type::TEXT),
        (&nobody, Type::TEXT),
        (&"discarded", Type::TEXT),
        (&0_i64, Type::INT8),
        (&100_i64, Type::INT8),
    ];
    house.finds(statement!("parked/settled"), discarded, "parked_discarded").await;
    let row: Parameters<'_> = &[(&30_050_i64, Type::INT8), (&1024_i32, Type::INT4), (&100_i64, Type::INT8)];
    house.finds(statement!("parked/show"), row, "parked_pkey").await;
    house.finds(statement!("parked/lock"), &[(&30_050_i64, Type::INT8)], "parked_open").await;
    let matching: Parameters<'_> =
        &[(&"shop.1", Type::TEXT), (&nobody, Type::TEXT), (&false, Type::BOOL), (&1000_i64, Type::INT8)];
    house.finds(statement!("parked/matching"), matching, "parked_open").await;
    let holds: &[i64] = &[5001, 5002];
    house.finds(statement!("parked/resume"), &[(&holds, Type::INT8_ARRAY)], "holds_open").await;
}
