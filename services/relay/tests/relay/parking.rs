//! A row that Kafka refuses alone is parked, its key waits behind it in order, and everything else flows.

use waybill_outbox::parked::{Change, Decided, Decision, Verb, decide};
use waybill_outbox::{Event, append, wake};
use waybill_relay::codes::{RELAY_HOLDS_FULL, RELAY_ROW_PARKED};
use waybill_testkit::eventually;

use crate::fixtures::{House, Running};
use crate::refusal::{delivered, noise, set_limit, topic_with_limit};

/// So many bytes fit under the limit, and so many do not.
const SMALL: usize = 100;
const LARGE: usize = 6_000;

pub(crate) const OPEN_HOLDS: &str = "SELECT count(*) FROM outbox.holds WHERE ended_at IS NULL";

async fn limited() -> House {
    let mut house = House::new(1).await;
    house.topic = topic_with_limit(&house, "4000").await;
    house
}

fn start(house: &House) -> Running {
    house.relay(
        &house
            .settings()
            .set("relay.compression", "none")
            .set("relay.lease_ms", 1_000)
            .set("relay.poll_interval_ms", 100),
    )
}

/// A person's decision, with the privileges of the api that carries it out.
pub(crate) async fn decided(house: &House, seq: i64, verb: Verb) {
    let mut db = house.outbox.database.role("api").await;
    db.batch_execute("SET search_path = outbox").await.expect("set");
    let tx = db.transaction().await.expect("begun");
    let decision = Decision { verb, by: "an operator", reason: "because" };
    let decided = decide(&tx, seq, decision).await.expect("an answer");
    assert!(matches!(decided, Some(Decided::Done(Change::To(_)))), "{decided:?}");
    tx.commit().await.expect("committed");
    wake(&db).await.expect("notified");
}

/// The states of the parked rows, in the order of seq.
async fn states(house: &House) -> Vec<String> {
    let rows = house.outbox.admin.query("SELECT state FROM outbox.parked ORDER BY seq", &[]).await;
    rows.expect("the parked rows").iter().map(|row| row.get(0)).collect()
}

pub(crate) async fn nothing_held(house: &House) {
    eventually("nothing is held", async || (house.outbox.number(OPEN_HOLDS).await == 0).then_some(())).await;
}

async fn healthy(relay: &Running) {
    eventually("it is healthy again", async || relay.health.report().reasons.is_empty().then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_row_is_parked_with_its_key_behind_it_and_a_retry_sends_them_in_order() {
    let house = limited().await;
    let relay = start(&house);
    house.write("one", &noise('a', SMALL)).await;
    let refused = house.write("one", &noise('b', LARGE)).await;
    house.write("one", &noise('c', SMALL)).await;
    house.write("two", &noise('d', SMALL)).await;
    house.drained().await;
    house.write("one", &noise('e', SMALL)).await;
    house.write("two", &noise('f', SMALL)).await;
    house.drained().await;
    assert_eq!(delivered(&house.topic).await, ["a", "d", "f"]);
    assert_eq!(states(&house).await, ["refused", "waiting", "waiting"]);
    let detail = relay.degraded(RELAY_ROW_PARKED).await;
    assert!(detail.contains(&house.topic), "{detail}");

    set_limit(&house.topic, "100000").await;
    decided(&house, refused, Verb::Retry).await;
    nothing_held(&house).await;
    house.write("one", &noise('g', SMALL)).await;
    house.drained().await;
    assert_eq!(delivered(&house.topic).await, ["a", "d", "f", "b", "c", "e", "g"]);
    assert_eq!(states(&house).await, ["sent", "sent", "sent"]);
    healthy(&relay).await;
    relay.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_discarded_row_is_kept_with_who_and_why_and_what_waited_behind_it_flows() {
    let house = limited().await;
    let relay = start(&house);
    let refused = house.write("one", &noise('a', LARGE)).await;
    house.write("one", &noise('b', SMALL)).await;
    house.drained().await;
    decided(&house, refused, Verb::Discard).await;
    nothing_held(&house).await;
    house.write("one", &noise('c', SMALL)).await;
    house.drained().await;
    assert_eq!(delivered(&house.topic).await, ["b", "c"]);
    let kept = "SELECT count(*) FROM outbox.parked WHERE state = 'discarded' AND decided_by = 'an operator' \
                AND decision_reason = 'because' AND octet_length(payload) > 0";
    assert_eq!(house.outbox.number(kept).await, 1);
    healthy(&relay).await;
    relay.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_while_the_cause_is_still_there_is_refused_again_and_holds_up_nobody() {
    let house = limited().await;
    let relay = start(&house);
    let refused = house.write("one", &noise('a', LARGE)).await;
    house.write("one", &noise('b', SMALL)).await;
    house.drained().await;
    decided(&house, refused, Verb::Retry).await;
    let twice = format!(
        "SELECT count(*) FROM outbox.parked WHERE seq = {refused} AND state = 'refused' AND refusals = 2"
    );
    eventually("it is refused again", async || (house.outbox.number(&twice).await == 1).then_some(())).await;
    house.write("two", &noise('c', SMALL)).await;
    house.drained().await;
    assert_eq!(delivered(&house.topic).await, ["c"]);
    assert_eq!(states(&house).await, ["refused", "waiting"]);
    let asked = "SELECT count(*) FROM outbox.holds WHERE resume_requested_at IS NOT NULL";
    assert_eq!(house.outbox.number(asked).await, 0, "the request was answered");
    relay.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_that_is_lowered_under_a_running_relay_is_found() {
    let house = limited().await;
    let relay = start(&house);
    house.write("one", &noise('a', 1_500)).await;
    house.drained().await;
    set_limit(&house.topic, "1000").await;
    let refused = house.write("one", &noise('b', 1_500)).await;
    house.write("two", &noise('c', SMALL)).await;
    relay.degraded(RELAY_ROW_PARKED).await;
    house.drained().await;
    set_limit(&house.topic, "4000").await;
    decided(&house, refused, Verb::Retry).await;
    nothing_held(&house).await;
    assert_eq!(delivered(&house.topic).await, ["a", "c", "b"]);
    relay.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_exactly_at_the_limit_is_sent_and_one_byte_more_is_parked() {
    let house = limited().await;
    let relay = start(&house);
    // A record batch of one record with a key of one byte and without headers: its header (61), the record's length (2),
    // attributes and deltas (3), the key (2), the value's length (2), the value, and the number of headers (1).
    let value = 4_000 - 71;
    for bytes in [value, value + 1] {
        let text = noise('a', bytes);
        let event = Event {
            topic: &house.topic,
            key: Some(b"k"),
            event_id: "e",
            headers: &[],
            payload: Some(text.as_bytes()),
        };
        append(&house.outbox.writer, &event).await.expect("appended");
    }
    house.drained().await;
    assert_eq!(delivered(&house.topic).await.len(), 1);
    let parked = "SELECT max(octet_length(payload))::bigint FROM outbox.parked WHERE state = 'refused'";
    assert_eq!(house.outbox.number(parked).await, i64::try_from(value).expect("small") + 1);
    relay.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_the_client_itself_refuses_is_parked_without_losing_the_producer() {
    let house = House::new(1).await;
    let relay = start(&house);
    house.write("one", "a").await;
    // Past the check of the library, as a writer in SQL could.
    let huge = "INSERT INTO outbox.events (topic, key, event_id, header_names, header_values, payload) \
                VALUES ($1, 'one', 'e', '{}', '{}', convert_to(repeat('x', 1200000), 'UTF8'))";
    house.outbox.admin.execute(huge, &[&house.topic]).await.expect("inserted");
    house.write("one", "b").await;
    house.write("two", "c").await;
    house.drained().await;
    assert_eq!(house.delivered().await, ["a", "c"]);
    assert_eq!(states(&house).await, ["refused", "waiting"]);
    relay.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_without_a_key_that_is_refused_holds_nothing_up_and_an_empty_key_is_a_key() {
    let house = limited().await;
    let relay = start(&house);
    let headers = [("empty".to_owned(), Some(Vec::new()))];
    let (large, small) = (noise('x', LARGE), noise('s', SMALL));
    let rows: [(Option<&[u8]>, Option<&str>); 6] = [
        (None, Some(&large)),
        (None, Some(&small)),
        (Some(b""), Some(&large)),
        (Some(b""), None),
        (Some(b"k"), None),
        (None, None),
    ];
    let topic = house.topic.as_str();
    for (key, text) in rows {
        let event = Event { topic, key, event_id: "e", headers: &headers, payload: text.map(str::as_bytes) };
        append(&house.outbox.writer, &event).await.expect("appended");
    }
    house.drained().await;
    assert_eq!(states(&house).await, ["refused", "refused", "waiting"]);
    let scopes = house.outbox.admin.query("SELECT scope FROM outbox.holds ORDER BY hold_id", &[]).await;
    let scopes: Vec<String> = scopes.expect("the holds").iter().map(|row| row.get(0)).collect();
    assert_eq!(scopes, ["row", "key"]);
    let records = waybill_testkit::read_to_end(topic).await;
    let found: Vec<_> =
        records.iter().map(|record| (record.key.as_deref(), record.payload.is_some())).collect();
    assert_eq!(found, [(None, true), (Some(&b"k"[..]), false), (None, false)]);
    assert!(records.iter().all(|record| record.headers == headers));

    set_limit(topic, "100000").await;
    let refused =
        house.outbox.admin.query("SELECT seq FROM outbox.parked WHERE state = 'refused' ORDER BY seq", &[]);
    for row in refused.await.expect("the refused rows") {
        decided(&house, row.get(0), Verb::Retry).await;
    }
    nothing_held(&house).await;
    let records = waybill_testkit::read_to_end(topic).await;
    let of_empty: Vec<_> = records.iter().filter(|record| record.key.as_deref() == Some(b"")).collect();
    assert_eq!(of_empty.iter().map(|record| record.payload.is_some()).collect::<Vec<_>>(), [true, false]);
    relay.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn relays_that_are_killed_while_rows_are_parked_and_sent_again_lose_and_reorder_nothing() {
    let house = limited().await;
    let mut relay = start(&house);
    let refused = house.write("one", &noise('!', LARGE)).await;
    let fill = "INSERT INTO outbox.events (topic, key, event_id, header_names, header_values, payload) \
                SELECT $1, convert_to(CASE n % 2 WHEN 0 THEN 'one' ELSE 'two' END, 'UTF8'), 'e', '{}', '{}', \
                    convert_to(n::text, 'UTF8') \
                FROM generate_series(1, 3000) AS n";
    house.outbox.admin.execute(fill, &[&house.topic]).await.expect("inserted");
    let parked = "SELECT count(*) FROM outbox.parked";
    let sent = "SELECT count(*) FROM outbox.parked WHERE state = 'sent'";
    for (sql, step) in [(parked, 1), (parked, 600)] {
        eventually("rows are parked", async || (house.outbox.number(sql).await >= step).then_some(())).await;
        relay.crash().await;
        relay = start(&house);
    }
    house.drained().await;
    assert_eq!(house.outbox.number(parked).await, 1_501, "each row is parked once");
    set_limit(&house.topic, "100000").await;
    decided(&house, refused, Verb::Retry).await;
    for least in [1, 700] {
        eventually("rows are sent", async || (house.outbox.number(sent).await >= least).then_some(())).await;
        relay.crash().await;
        relay = start(&house);
    }
    nothing_held(&house).await;
    house.drained().await;
    relay.end().await;
    let records = waybill_testkit::read_to_end(&house.topic).await;
    for (key, expected) in [("one", 1_500), ("two", 1_500)] {
        let of_key = records.iter().filter(|record| record.key.as_deref() == Some(key.as_bytes()));
        let mut seen = std::collections::HashSet::new();
        let numbers: Vec<u32> = of_key
            .filter_map(|record| crate::fixtures::text(record).parse().ok())
            .filter(|number| seen.insert(*number))
            .collect();
        assert_eq!(numbers.len(), expected, "{key}");
        assert!(numbers.is_sorted(), "{key}: {numbers:?}");
    }
    let first = records.iter().find(|record| record.key.as_deref() == Some(b"one"));
    assert!(
        crate::fixtures::text(first.expect("rows")).starts_with('!'),
        "the refused row is the first of its key"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_that_was_opened_before_a_kill_and_nothing_parked_under_it_is_ended() {
    let house = limited().await;
    house
        .outbox
        .run(&format!(
            "INSERT INTO outbox.holds (scope, topic, key, code, detail) \
             VALUES ('key', '{0}', 'one', 'relay-row-refused', ''), ('topic', '{0}', NULL, 'relay-topic-missing', '')",
            house.topic
        ))
        .await;
    let relay = start(&house);
    house.write("one", &noise('a', SMALL)).await;
    house.drained().await;
    nothing_held(&house).await;
    assert_eq!(delivered(&house.topic).await, ["a"]);
    relay.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn shutdown_is_quick_while_a_row_is_parked() {
    let house = limited().await;
    let relay = start(&house);
    house.write("key", &noise('b', LARGE)).await;
    relay.degraded(RELAY_ROW_PARKED).await;
    let health = relay.health.clone();
    let asked = std::time::Instant::now();
    relay.end().await;
    assert!(asked.elapsed().as_secs() < 15, "{:?}", asked.elapsed());
    assert!(health.report().reasons.is_empty(), "whoever is active next says it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_that_holds_as_much_as_it_may_waits_at_the_row_and_says_so() {
    let house = limited().await;
    let fill = "WITH made AS ( \
            INSERT INTO outbox.holds (scope, topic, code, detail) \
            SELECT 'row', 'another', 'relay-row-refused', '' FROM generate_series(1, 10000) RETURNING hold_id \
        ) \
        INSERT INTO outbox.parked (seq, hold_id, state, xid, topic, event_id, header_names, header_values, created_at, code) \
        SELECT -hold_id, hold_id, 'refused', '5', 'another', 'e', '{}', '{}', now(), 'relay-row-refused' FROM made";
    house.outbox.run(fill).await;
    let relay = start(&house);
    let refused = house.write("one", &noise('a', LARGE)).await;
    let detail = relay.degraded(RELAY_HOLDS_FULL).await;
    assert!(detail.contains(&format!("row {refused} ")), "{detail}");
    set_limit(&house.topic, "100000").await;
    house.drained().await;
    assert_eq!(delivered(&house.topic).await, ["a"]);
    assert_eq!(house.outbox.number(OPEN_HOLDS).await, 10_000);
    relay.end().await;
}
