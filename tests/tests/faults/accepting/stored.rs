//! What of exports is stored, and what a caller is told for whom nothing is.

use serde_json::{Value, json};
use tokio_postgres::Client;
use waybill_testkit::Answer;

/// What a caller of these tests asks for.
pub(super) fn orders() -> Value {
    json!({ "dataset": "orders" })
}

/// The rows of each table that an acceptance writes to.
const ROWS: &str = "
    SELECT ARRAY[
        (SELECT count(*) FROM export.intents), (SELECT count(*) FROM export.jobs),
        (SELECT count(*) FROM export.commands), (SELECT count(*) FROM export.facts), (SELECT count(*) FROM outbox.events)
    ]";

/// The exports of which everything is there that an acceptance writes, each once.
const WHOLE: &str = "
    SELECT count(*) FROM export.jobs AS j
    WHERE (SELECT count(*) FROM export.intents AS i WHERE i.export_id = j.export_id) = 1
        AND (SELECT count(*) FROM export.commands AS c WHERE c.export_id = j.export_id AND c.reason = 'accepted') = 1
        AND (SELECT count(*) FROM export.facts AS f WHERE f.export_id = j.export_id
             AND f.type = 'waybill.export.requested') = 1
        AND (SELECT count(*) FROM outbox.events AS e WHERE e.key = convert_to(j.export_id, 'UTF8')) = 2";

/// So many exports are accepted and none has begun: each with one intent, one command and one fact, and there is nothing
/// else (I1, I2).
pub(super) async fn accepted(admin: &Client, exports: i64) {
    let rows: Vec<i64> = admin.query_one(ROWS, &[]).await.expect("the rows").get(0);
    assert_eq!(
        rows,
        [exports, exports, exports, exports, 2 * exports],
        "intents, jobs, commands, facts, outbox"
    );
    let whole: i64 = admin.query_one(WHOLE, &[]).await.expect("a count").get(0);
    assert_eq!(whole, exports, "exports that are whole");
}

/// The ids of all exports, in the order of their intents' keys.
pub(super) async fn export_ids(admin: &Client) -> Vec<String> {
    let ids = "SELECT export_id FROM export.intents ORDER BY idempotency_key";
    let rows = admin.query(ids, &[]).await.expect("the intents");
    rows.iter().map(|row| row.get(0)).collect()
}

/// 503, with a time after which another try makes sense.
pub(super) fn is_told_to_come_again(answer: &Answer) {
    assert_eq!(answer.status, 503, "{}", answer.json());
    assert!(answer.headers.contains_key("retry-after"), "{:?}", answer.headers);
}
