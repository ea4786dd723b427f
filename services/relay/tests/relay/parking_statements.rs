//! What the relay writes about held rows, statement by statement, with the relay's own privileges.

use tokio_postgres::Client;
use waybill_outbox::hold::{self, Refused};
use waybill_outbox::window::{Batch, Cursor, Held, Statements, WindowError};

use crate::fixtures::{Outbox, WIDE, write};

const TOPIC: &str = "events";
const CODE: &str = "relay-row-refused";

struct House {
    outbox: Outbox,
    db: Client,
    cursor: Cursor,
    rows: Vec<i64>,
}

/// An open window with five rows of one key.
async fn house() -> House {
    let outbox = Outbox::new().await;
    let (db, statements, mut cursor): (Client, Statements, Cursor) = outbox.cursor("first").await;
    let mut rows = Vec::new();
    for number in 0..5 {
        rows.push(write(&outbox.writer, TOPIC, "a", &number.to_string()).await);
    }
    statements.open(&db, &mut cursor).await.expect("opened");
    House { outbox, db, cursor, rows }
}

impl House {
    fn refused(&self, row: usize) -> Refused<'static> {
        Refused { seq: self.rows[row], code: CODE, detail: "too large" }
    }

    fn held(&self, row: usize, hold_id: i64) -> Held {
        Held { seq: self.rows[row], hold_id, is_refused: row == 1 }
    }

    /// Parks the rows from the second to the fourth under a hold of their key.
    async fn parked(&mut self) -> i64 {
        let opened = hold::open_row(&self.db, self.cursor.fence, &self.refused(1)).await.expect("opened");
        let held = [1, 2, 3].map(|row| self.held(row, opened.hold_id));
        let batch = Batch { last_seq: self.rows[3], events: 1 };
        hold::park(&self.db, &mut self.cursor, batch, &held).await.expect("parked");
        opened.hold_id
    }

    async fn states(&self) -> Vec<String> {
        let rows = self.outbox.admin.query("SELECT state FROM outbox.parked ORDER BY seq", &[]).await;
        rows.expect("the parked rows").iter().map(|row| row.get(0)).collect()
    }

    /// Everything that these statements write, as text.
    async fn everything(&self) -> String {
        let sql = "SELECT concat_ws(E'\\n', \
            (SELECT string_agg(holds::text, E'\\n' ORDER BY hold_id) FROM outbox.holds), \
            (SELECT string_agg(parked::text, E'\\n' ORDER BY seq) FROM outbox.parked), \
            (SELECT string_agg(topics::text, E'\\n') FROM outbox.topics), \
            (SELECT string_agg(batches::text, E'\\n') FROM outbox.batches), \
            (SELECT concat_ws(' ', from_snapshot, to_snapshot, after_seq) FROM outbox.cursor))";
        self.outbox.admin.query_one(sql, &[]).await.expect("everything").get(0)
    }
}

fn is_fenced<T>(outcome: &Result<T, WindowError>) -> bool {
    matches!(outcome, Err(WindowError::Fenced { .. }))
}

#[tokio::test]
async fn the_cursor_passes_held_rows_only_with_their_copies() {
    let mut house = house().await;
    let hold_id = house.parked().await;
    assert_eq!(house.cursor.window.after_seq, house.rows[3]);
    assert_eq!(house.states().await, ["refused", "waiting", "waiting"]);
    let same = "SELECT count(*) FROM outbox.parked JOIN outbox.events USING \
        (seq, xid, topic, key, event_id, header_names, header_values, payload, created_at)";
    assert_eq!(house.outbox.number(same).await, 3, "copied whole");
    let batches = "SELECT sum(events)::bigint FROM outbox.batches";
    assert_eq!(house.outbox.number(batches).await, 1, "only one was acknowledged");
    let page = hold::page(&house.db, hold_id, 0, WIDE).await.expect("a page");
    assert!(page.rows.is_empty(), "the first is refused, and the others wait behind it");
}

#[tokio::test]
async fn neither_happens_when_one_cannot() {
    let mut house = house().await;
    let fence = house.cursor.fence;
    let opened = hold::open_row(&house.db, fence, &house.refused(1)).await.expect("opened");
    let before = house.everything().await;
    let last_seq = house.rows[3];
    let attempts = [
        // No such row, no such hold, and rows that are fewer than asked for.
        (last_seq, vec![Held { seq: last_seq + 1_000, ..house.held(1, opened.hold_id) }]),
        (last_seq, vec![house.held(1, opened.hold_id + 1_000)]),
        (last_seq, vec![house.held(1, opened.hold_id), Held { seq: -1, ..house.held(2, opened.hold_id) }]),
        // The cursor would not move.
        (house.cursor.window.after_seq, vec![house.held(1, opened.hold_id)]),
    ];
    for (last_seq, held) in attempts {
        let batch = Batch { last_seq, events: 0 };
        let moved = hold::park(&house.db, &mut house.cursor.clone(), batch, &held).await;
        assert!(is_fenced(&moved), "{held:?}: {moved:?}");
        assert_eq!(house.everything().await, before, "{held:?}");
    }
    assert!(hold::end(&house.db, fence, opened.hold_id).await.expect("an answer"));
    let batch = Batch { last_seq, events: 0 };
    let held = [house.held(1, opened.hold_id)];
    let moved = hold::park(&house.db, &mut house.cursor, batch, &held).await;
    assert!(is_fenced(&moved), "under a hold that has ended: {moved:?}");
}

#[tokio::test]
async fn parking_twice_from_one_place_changes_nothing_the_second_time() {
    let mut house = house().await;
    let mut before = house.cursor.clone();
    let hold_id = house.parked().await;
    let parked = house.everything().await;
    let batch = Batch { last_seq: house.rows[3], events: 1 };
    let again = hold::park(&house.db, &mut before, batch, &[house.held(1, hold_id)]).await;
    assert!(again.is_err());
    assert_eq!(house.everything().await, parked);
}

#[tokio::test]
async fn an_old_fence_writes_nothing_about_what_is_held() {
    let mut house = house().await;
    let hold_id = house.parked().await;
    let old = house.cursor.fence;
    house.outbox.run("UPDATE outbox.cursor SET fence = fence + 1").await;
    let before = house.everything().await;
    let (db, refused, now) = (&house.db, house.refused(1), std::time::SystemTime::now());
    let batch = Batch { last_seq: house.rows[4], events: 0 };
    let held = [house.held(4, hold_id)];
    let fenced = [
        is_fenced(&hold::open_topic(db, old, "another", CODE, "").await),
        is_fenced(&hold::open_row(db, old, &house.refused(4)).await),
        is_fenced(&hold::park(db, &mut house.cursor, batch, &held).await),
        is_fenced(&hold::settle(db, old, hold_id, &[refused.seq]).await),
        is_fenced(&hold::refuse(db, old, hold_id, &refused, None).await),
        is_fenced(&hold::transfer(db, old, hold_id, hold_id, &refused).await),
        is_fenced(&hold::end(db, old, hold_id).await),
        is_fenced(&hold::stand(db, old, hold_id, now).await),
        is_fenced(&hold::explain(db, old, hold_id, "another", "").await),
        is_fenced(&hold::record_topic(db, old, TOPIC, "id").await),
    ];
    assert_eq!(fenced, [true; 10]);
    assert_eq!(house.everything().await, before);
}

#[tokio::test]
async fn a_hold_ends_only_when_no_undecided_row_is_left() {
    let mut house = house().await;
    let (hold_id, fence) = (house.parked().await, house.cursor.fence);
    // A person has the refused one sent again.
    house
        .outbox
        .run(
            "UPDATE outbox.parked SET state = 'waiting', decision_reason = 'because' WHERE state = 'refused'",
        )
        .await;
    for row in [1, 2] {
        hold::settle(&house.db, fence, hold_id, &[house.rows[row]]).await.expect("settled");
        assert!(!hold::end(&house.db, fence, hold_id).await.expect("an answer"), "after row {row}");
    }
    hold::settle(&house.db, fence, hold_id, &[house.rows[3]]).await.expect("settled");
    assert!(hold::end(&house.db, fence, hold_id).await.expect("an answer"));
    assert!(hold::end(&house.db, fence, hold_id).await.expect("an answer"), "and stays so");
    let next = hold::open_row(&house.db, fence, &house.refused(4)).await.expect("opened");
    assert_ne!(next.hold_id, hold_id, "the next refusal is another hold");
}

#[tokio::test]
async fn one_hold_is_open_for_a_key_and_for_a_topic_however_often_it_is_opened() {
    let house = house().await;
    let fence = house.cursor.fence;
    let first = hold::open_row(&house.db, fence, &house.refused(1)).await.expect("opened");
    let again = hold::open_row(&house.db, fence, &house.refused(2)).await.expect("found");
    assert_eq!((first.hold_id, first.is_empty), (again.hold_id, true));
    let topic = hold::open_topic(&house.db, fence, TOPIC, "relay-topic-missing", "").await.expect("opened");
    let again = hold::open_topic(&house.db, fence, TOPIC, "relay-topic-stalled", "").await.expect("found");
    assert_eq!(topic, again);
    let loaded = hold::load(&house.db, 10).await.expect("the holds");
    assert_eq!(loaded.iter().map(|hold| hold.hold_id).collect::<Vec<_>>(), [first.hold_id, topic]);
    assert!(loaded.iter().all(|hold| hold.is_empty));
    assert_eq!(loaded[0].key_digest, first.key_digest);
}

#[tokio::test]
async fn a_row_that_was_discarded_on_its_way_is_sent_because_it_was() {
    let mut house = house().await;
    let hold_id = house.parked().await;
    let discard =
        "UPDATE outbox.parked SET state = 'discarded', decided_by = 'somebody', decision_reason = 'because'";
    house.outbox.run(discard).await;
    hold::settle(&house.db, house.cursor.fence, hold_id, &[house.rows[1]]).await.expect("settled");
    assert_eq!(house.states().await, ["sent", "discarded", "discarded"]);
    let kept = "SELECT count(*) FROM outbox.parked WHERE state = 'sent' AND decision_reason = 'because'";
    assert_eq!(house.outbox.number(kept).await, 1);
}

#[tokio::test]
async fn a_refused_row_of_a_held_topic_takes_its_keys_later_rows_with_it() {
    let mut house = house().await;
    let fence = house.cursor.fence;
    let other = write(&house.outbox.writer, TOPIC, "b", "of another key").await;
    let (from, to) = (
        hold::open_topic(&house.db, fence, TOPIC, "relay-topic-missing", "").await.expect("opened"),
        hold::open_row(&house.db, fence, &house.refused(1)).await.expect("opened").hold_id,
    );
    let held = [0, 1, 2, 3, 4].map(|row| Held { is_refused: false, ..house.held(row, from) });
    let batch = Batch { last_seq: house.rows[4], events: 0 };
    hold::park(&house.db, &mut house.cursor, batch, &held).await.expect("parked");
    let copy = "INSERT INTO outbox.parked (seq, hold_id, state, xid, topic, key, event_id, header_names, header_values, created_at) \
                SELECT seq, $2, 'waiting', xid, topic, key, event_id, header_names, header_values, created_at \
                FROM outbox.events WHERE seq = $1";
    house.outbox.admin.execute(copy, &[&other, &from]).await.expect("parked");
    hold::transfer(&house.db, fence, from, to, &house.refused(1)).await.expect("transferred");
    let under = "SELECT hold_id FROM outbox.parked ORDER BY seq";
    let under: Vec<i64> =
        house.outbox.admin.query(under, &[]).await.expect("rows").iter().map(|row| row.get(0)).collect();
    assert_eq!(under, [from, to, to, to, to, from]);
    assert_eq!(house.states().await, ["waiting", "refused", "waiting", "waiting", "waiting", "waiting"]);
}

#[tokio::test]
async fn an_answer_is_for_the_request_that_led_to_it_and_a_later_one_stands() {
    let mut house = house().await;
    let (hold_id, fence) = (house.parked().await, house.cursor.fence);
    house.outbox.run("UPDATE outbox.holds SET resume_requested_at = now()").await;
    let seen = hold::requested(&house.db).await.expect("requests");
    house.outbox.run("UPDATE outbox.holds SET resume_requested_at = now() + interval '1 ms'").await;
    let refused = house.refused(1);
    hold::refuse(&house.db, fence, hold_id, &refused, Some(seen[0].1)).await.expect("refused");
    hold::stand(&house.db, fence, hold_id, seen[0].1).await.expect("answered");
    let later = hold::requested(&house.db).await.expect("requests");
    assert_eq!(later.len(), 1, "it came after what was answered");
    hold::refuse(&house.db, fence, hold_id, &refused, Some(later[0].1)).await.expect("refused");
    assert!(hold::requested(&house.db).await.expect("requests").is_empty());
}

#[tokio::test]
async fn a_topics_id_is_recorded_once_and_changed_only_by_a_decision() {
    let house = house().await;
    let fence = house.cursor.fence;
    assert_eq!(hold::recorded_id(&house.db, TOPIC).await.expect("an answer"), None);
    assert_eq!(hold::record_topic(&house.db, fence, TOPIC, "first").await.expect("recorded"), "first");
    assert_eq!(hold::record_topic(&house.db, fence, TOPIC, "second").await.expect("found"), "first");
    hold::open_topic(&house.db, fence, TOPIC, "relay-topic-recreated", "").await.expect("opened");
    let api = house.outbox.database.role("api").await;
    api.batch_execute("SET search_path = outbox").await.expect("set");
    let before = hold::accept_topic(&api, TOPIC, "second", "somebody", "because").await.expect("accepted");
    assert_eq!(before.as_deref(), Some("first"));
    assert_eq!(hold::recorded_id(&house.db, TOPIC).await.expect("an answer").as_deref(), Some("second"));
    assert_eq!(hold::requested(&house.db).await.expect("requests").len(), 1, "the relay is asked to try it");
    assert_eq!(
        hold::accept_topic(&api, "unknown", "id", "somebody", "because").await.expect("an answer"),
        None
    );
}
