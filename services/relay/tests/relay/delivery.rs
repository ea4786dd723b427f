//! What is committed arrives: whole, in order, and nothing before Kafka has it.

use waybill_outbox::window::Batch;
use waybill_outbox::{Event, append};
use waybill_testkit::{eventually, read_to_end};

use crate::fixtures::{House, first_occurrences, text, write};

#[tokio::test(flavor = "multi_thread")]
async fn a_record_arrives_as_it_was_written_nulls_and_empty_values_included() {
    let house = House::new(1).await;
    let headers = [
        ("ce_id".to_owned(), Some(b"evt_1".to_vec())),
        ("empty".to_owned(), Some(Vec::new())),
        ("null".to_owned(), None),
        ("ce_id".to_owned(), Some("第二".as_bytes().to_vec())),
    ];
    let topic = house.topic.as_str();
    let events = [
        Event { topic, key: Some(b"k"), event_id: "1", headers: &headers, payload: Some(b"\0\xff") },
        Event { topic, key: None, event_id: "2", headers: &[], payload: Some(b"") },
        Event { topic, key: Some(b""), event_id: "3", headers: &headers[..1], payload: None },
    ];
    for event in &events {
        append(&house.outbox.writer, event).await.expect("appended");
    }
    let relay = house.relay(&house.settings());
    house.drained().await;
    let records = read_to_end(&house.topic).await;
    assert_eq!(records.len(), events.len());
    for (record, event) in records.iter().zip(&events) {
        assert_eq!(record.key.as_deref(), event.key, "{record:?}");
        assert_eq!(record.payload.as_deref(), event.payload, "{record:?}");
        assert_eq!(record.headers, event.headers, "{record:?}");
    }
    relay.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backlog_of_many_pages_arrives_once_and_every_key_in_order() {
    let house = House::new(3).await;
    let tenth = "INSERT INTO outbox.events (topic, key, event_id, header_names, header_values, payload) \
                 SELECT $1, convert_to('key ' || n % 17, 'UTF8'), 'evt', '{}', '{}', convert_to(n::text, 'UTF8') \
                 FROM generate_series($2::integer, $3::integer) AS n";
    for part in 0..10 {
        let bounds = (part * 500 + 1, (part + 1) * 500);
        let inserted = house.outbox.admin.execute(tenth, &[&house.topic, &bounds.0, &bounds.1]).await;
        assert_eq!(inserted.expect("inserted"), 500);
    }
    let relay = house.relay(&house.settings().set("relay.page_rows", 100));
    house.drained().await;
    relay.end().await;
    let records = read_to_end(&house.topic).await;
    assert_eq!(records.len(), 5000);
    for key in 0..17 {
        let of_key = records.iter().filter(|record| record.key == Some(format!("key {key}").into_bytes()));
        let numbers: Vec<u32> = of_key.map(|record| text(record).parse().expect("a number")).collect();
        assert!(numbers.is_sorted() && !numbers.is_empty(), "key {key}: {numbers:?}");
    }
    let acknowledged = house.outbox.number("SELECT sum(events)::bigint FROM outbox.batches").await;
    assert_eq!(acknowledged, 5000);
    let batches = house.outbox.number("SELECT count(*) FROM outbox.batches").await;
    assert!(batches <= 50, "{batches} moves of the cursor for 50 pages");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_row_is_found_in_the_batch_by_which_it_was_acknowledged() {
    let house = House::new(2).await;
    let relay = house.relay(&house.settings().set("relay.page_rows", 3));
    for number in 0..20 {
        house.write("a", &number.to_string()).await;
    }
    house.drained().await;
    relay.end().await;
    let unfound = "SELECT count(*) FROM outbox.events AS e WHERE (
        SELECT count(*) FROM outbox.batches AS b
        WHERE e.seq > b.after_seq AND e.seq <= b.last_seq
            AND pg_visible_in_snapshot(e.xid, b.to_snapshot)
            AND NOT pg_visible_in_snapshot(e.xid, b.from_snapshot)
    ) <> 1";
    assert_eq!(house.outbox.number(unfound).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_commit_of_a_low_seq_is_delivered_after_higher_ones() {
    let house = House::new(1).await;
    let relay = house.relay(&house.settings());
    let mut late_writer = house.outbox.database.role("api").await;
    let late = late_writer.transaction().await.expect("begun");
    write(&late, &house.topic, "a", "low, late").await;
    house.write("b", "high").await;
    eventually("the higher one arrives", async || (house.delivered().await == ["high"]).then_some(())).await;
    late.commit().await.expect("committed");
    house.drained().await;
    assert_eq!(house.delivered().await, ["high", "low, late"]);
    relay.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_held_open_by_somebody_neither_stalls_nor_hides_rows() {
    let house = House::new(1).await;
    let mut holder = house.outbox.database.role("api").await;
    let held = holder.transaction().await.expect("begun");
    write(&held, &house.topic, "held", "the holder's").await;
    let relay = house.relay(&house.settings());
    let mut expected = Vec::new();
    for number in 0..5 {
        expected.push(number.to_string());
        house.write("a", &number.to_string()).await;
        eventually("it arrives", async || (house.delivered().await == expected).then_some(())).await;
    }
    held.commit().await.expect("committed");
    house.drained().await;
    expected.push("the holder's".to_owned());
    assert_eq!(house.delivered().await, expected);
    relay.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_in_the_middle_of_a_window_sends_what_was_not_acknowledged() {
    let house = House::new(1).await;
    let mut rows = Vec::new();
    for number in 0..10 {
        rows.push(house.write("a", &number.to_string()).await);
    }
    let (db, statements, mut cursor) = house.outbox.cursor("a relay before").await;
    statements.open(&db, &mut cursor).await.expect("opened");
    statements.advance(&db, &mut cursor, Batch { last_seq: rows[3], events: 4 }).await.expect("advanced");
    house.write("a", "after the window").await;
    house.outbox.expire().await;

    let relay = house.relay(&house.settings());
    house.drained().await;
    let expected = ["4", "5", "6", "7", "8", "9", "after the window"];
    assert_eq!(house.delivered().await, expected);
    relay.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_with_rows_that_were_not_sent_leaves_them_in_the_window() {
    let house = House::new(1).await;
    let fill = "INSERT INTO outbox.events (topic, key, event_id, header_names, header_values, payload) \
                SELECT $1, 'k', 'evt', '{}', '{}', convert_to(n::text, 'UTF8') FROM generate_series(1, 20000) AS n";
    house.outbox.admin.execute(fill, &[&house.topic]).await.expect("inserted");
    let settings = house.settings().set("relay.page_rows", 200);
    let mut starts = 0;
    let moved = "SELECT coalesce(sum(events), 0)::bigint FROM outbox.batches";
    while house.outbox.number(moved).await < 20_000 {
        let before = house.outbox.number(moved).await;
        let relay = house.relay(&settings);
        eventually("the cursor moves", async || (house.outbox.number(moved).await > before).then_some(()))
            .await;
        relay.end().await;
        starts += 1;
    }
    house.relay(&settings).end().await;
    assert!(starts > 1, "the first relay was stopped in the middle");
    let delivered = first_occurrences_of_many(&house.delivered().await);
    assert_eq!(delivered.len(), 20_000);
    assert!(delivered.is_sorted(), "first occurrences are in order");
}

fn first_occurrences_of_many(texts: &[String]) -> Vec<u32> {
    let mut seen = std::collections::HashSet::new();
    texts.iter().map(|text| text.parse().expect("a number")).filter(|number| seen.insert(*number)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_connection_to_postgres_loses_and_reorders_nothing() {
    let house = House::new(1).await;
    let relay = house.relay(&house.settings());
    let mut expected = Vec::new();
    for number in 0..30 {
        expected.push(number.to_string());
        house.write("a", &number.to_string()).await;
        if number % 5 == 0 {
            let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                       WHERE usename = 'waybill_relay' AND datname = current_database()";
            house.outbox.admin.execute(cut, &[]).await.expect("cut");
        }
    }
    house.drained().await;
    assert_eq!(first_occurrences(&house.delivered().await), expected);
    relay.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_relay_writes_nothing_but_its_lease() {
    let house = House::new(1).await;
    let relay = house.relay(&house.settings().set("relay.poll_interval_ms", 10).set("relay.lease_ms", 3_000));
    house.write("a", "one").await;
    house.drained().await;
    let moved = "SELECT (extract(epoch FROM moved_at) * 1000000)::bigint FROM outbox.cursor";
    let renewed = "SELECT (extract(epoch FROM lease_until) * 1000000)::bigint FROM outbox.cursor";
    let (stood, lease) = (house.outbox.number(moved).await, house.outbox.number(renewed).await);
    eventually("the lease is renewed", async || (house.outbox.number(renewed).await > lease).then_some(()))
        .await;
    assert_eq!(house.outbox.number(moved).await, stood);
    relay.end().await;
}
