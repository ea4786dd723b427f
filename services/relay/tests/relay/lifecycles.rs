//! What may become of a parked row and of a hold: one picture in the code, the database and the drawing.

use std::collections::BTreeSet;
use std::time::SystemTime;

use tokio_postgres::Transaction;
use waybill_outbox::hold::{self, Refused, Scope};
use waybill_outbox::parked::{Decision, State, Verb, decide};

use crate::fixtures::Outbox;

type Arrows = BTreeSet<(String, String)>;

/// Whatever changes a parked row or a hold that is there.
#[derive(Debug, Clone, Copy)]
enum Act {
    /// The relay's.
    Settle,
    Refuse,
    Transfer,
    Stand,
    End,
    /// A person's.
    Retry,
    Discard,
    AcceptTopic,
}

const ACTS: [Act; 8] = [
    Act::Settle,
    Act::Refuse,
    Act::Transfer,
    Act::Stand,
    Act::End,
    Act::Retry,
    Act::Discard,
    Act::AcceptTopic,
];

/// How a hold stands, as its columns say it.
const STANDINGS: [&str; 3] = ["standing", "asked", "ended"];

/// A hold of row 1, and another one.
const SCENE: &str = "
    WITH held AS (
        INSERT INTO holds (scope, topic, key, code, detail, resume_requested_at, ended_at)
        SELECT
            $1, 'orders', CASE $1 WHEN 'key' THEN 'k'::bytea END, 'code', '',
            CASE $2 WHEN 'asked' THEN now() END, CASE $2 WHEN 'ended' THEN now() END
        RETURNING hold_id
    ), parked AS (
        INSERT INTO parked (
            seq, hold_id, state, xid, topic, event_id, header_names, header_values, created_at, code,
            decided_by, decision_reason, sent_at
        )
        SELECT
            1, hold_id, $3, '5', 'orders', 'e', '{}', '{}', now(), 'code', 'somebody', 'because',
            CASE $3 WHEN 'sent' THEN now() END
        FROM held
    ), known AS (
        INSERT INTO topics (topic, topic_id) VALUES ('orders', 'old')
    ), other AS (
        INSERT INTO holds (scope, topic, code, detail) VALUES ('row', 'orders', 'code', '') RETURNING hold_id
    )
    SELECT held.hold_id, other.hold_id, fence FROM held, other, cursor";

const SEEN: &str = "
    SELECT
        parked.state,
        CASE
            WHEN ended_at IS NOT NULL THEN 'ended'
            WHEN resume_requested_at IS NOT NULL THEN 'asked'
            ELSE 'standing'
        END,
        resume_requested_at
    FROM holds, parked
    WHERE holds.hold_id = $1 AND seq = 1";

/// The row and its hold, and when that was asked to go on.
async fn seen(tx: &Transaction<'_>, hold_id: i64) -> (String, String, Option<SystemTime>) {
    let row = tx.query_one(SEEN, &[&hold_id]).await.expect("both are there");
    (row.get(0), row.get(1), row.get(2))
}

/// How the row and the hold stand before and after.
async fn happen(
    tx: &Transaction<'_>,
    act: Act,
    scope: Scope,
    standing: &str,
    state: State,
) -> [(String, String); 2] {
    let scene = tx.query_one(SCENE, &[&scope.as_str(), &standing, &state.as_str()]).await.expect("the scene");
    let (hold_id, other, fence): (i64, i64, i64) = (scene.get(0), scene.get(1), scene.get(2));
    let (row_before, hold_before, asked) = seen(tx, hold_id).await;
    let refused = Refused { seq: 1, code: "code", detail: "" };
    let decision = |verb| Decision { verb, by: "somebody", reason: "because" };
    match act {
        Act::Settle => hold::settle(tx, fence, hold_id, &[1]).await.expect("settled"),
        Act::Refuse => hold::refuse(tx, fence, hold_id, &refused, asked).await.expect("refused"),
        Act::Transfer => hold::transfer(tx, fence, hold_id, other, &refused).await.expect("transferred"),
        Act::Stand => {
            let asked = asked.unwrap_or_else(SystemTime::now);
            hold::stand(tx, fence, hold_id, asked).await.expect("answered");
        }
        Act::End => drop(hold::end(tx, fence, hold_id).await.expect("an answer")),
        Act::Retry => drop(decide(tx, 1, decision(Verb::Retry)).await.expect("an answer")),
        Act::Discard => drop(decide(tx, 1, decision(Verb::Discard)).await.expect("an answer")),
        Act::AcceptTopic => {
            let accepted = hold::accept_topic(tx, "orders", "new", "somebody", "because").await;
            assert_eq!(accepted.expect("accepted").as_deref(), Some("old"));
        }
    }
    let (row_after, hold_after, _) = seen(tx, hold_id).await;
    [(row_before, row_after), (hold_before, hold_after)]
}

/// Everything that the statements let happen to a row, and to a hold.
async fn allowed() -> (Arrows, Arrows) {
    let outbox = Outbox::new().await;
    let mut db = outbox.database.admin().await;
    db.batch_execute("SET search_path = outbox").await.expect("set");
    let (mut rows, mut holds) = (Arrows::new(), Arrows::new());
    for act in ACTS {
        for scope in Scope::ALL {
            for standing in STANDINGS {
                for state in State::ALL {
                    let tx = db.transaction().await.expect("begun");
                    let [row, hold] = happen(&tx, act, scope, standing, state).await;
                    tx.rollback().await.expect("rolled back");
                    rows.insert(row);
                    holds.insert(hold);
                }
            }
        }
    }
    rows.retain(|(from, to)| from != to);
    holds.retain(|(from, to)| from != to);
    (rows, holds)
}

/// The arrows of the state drawing under this heading of ARCHITECTURE.md, apart from those that begin or end it.
fn drawn(heading: &str) -> Arrows {
    let text = include_str!("../../../../ARCHITECTURE.md");
    let section = text.split_once(heading).unwrap_or_else(|| panic!("ARCHITECTURE.md has no {heading:?}")).1;
    let drawing =
        section.split_once("```mermaid").expect("a drawing").1.split_once("```").expect("its end").0;
    drawing
        .lines()
        .filter_map(|line| line.split(':').next()?.split_once("-->"))
        .map(|(from, to)| (from.trim().to_owned(), to.trim().to_owned()))
        .filter(|(from, to)| from != "[*]" && to != "[*]")
        .collect()
}

/// The texts that the CHECK of `column` in this table takes.
fn checked(table: &str, column: &str) -> BTreeSet<&'static str> {
    let sql = include_str!("../../../../migrations/outbox/V1__events.sql");
    let table = sql.split_once(&format!("CREATE TABLE {table} (")).expect("the table").1;
    let check = table.split_once(&format!("CHECK ({column} IN (")).expect("the check").1;
    let texts = check.split_once("))").expect("its end").0;
    texts.split(',').map(|text| text.trim().trim_matches('\'')).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_drawings_of_a_parked_row_and_of_a_hold_show_exactly_what_the_statements_allow() {
    let (rows, holds) = allowed().await;
    assert_eq!(drawn("### The lifecycle of a parked row"), rows);
    assert_eq!(drawn("### The lifecycle of a hold"), holds);
}

#[test]
fn the_database_takes_exactly_the_states_and_scopes_that_the_code_knows() {
    assert_eq!(checked("parked", "state"), State::ALL.iter().map(|state| state.as_str()).collect());
    assert_eq!(checked("holds", "scope"), Scope::ALL.iter().map(|scope| scope.as_str()).collect());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_database_lets_nobody_ask_for_a_hold_that_has_ended() {
    let outbox = Outbox::new().await;
    let both = "INSERT INTO outbox.holds (scope, topic, code, detail, resume_requested_at, ended_at) \
                VALUES ('topic', 'orders', 'code', '', now(), now())";
    let refused = outbox.admin.execute(both, &[]).await.expect_err("both at once");
    assert_eq!(refused.code(), Some(&tokio_postgres::error::SqlState::CHECK_VIOLATION));
}
