//! A topic that was held goes on while its writers do: its backlog empties, though more comes than its shortest turns send.

use std::collections::BTreeSet;

use waybill_outbox::wake;
use waybill_relay::codes::RELAY_TOPIC_MISSING;
use waybill_testkit::{eventually, read_to_end};

use crate::fixtures::{House, Running, first_occurrences, text};
use crate::parking::{OPEN_HOLDS, nothing_held};

/// Pages so small, before a producer that waits so long for a batch to fill, that the shortest turn sends a few hundred rows
/// on any machine.
const PAGE_ROWS: i64 = 5;
const LINGER_MS: i64 = 100;

/// So many rows are held when the topic comes back: more than one of the shortest turns sends.
const BACKLOG_ROWS: i64 = 1_000;

/// In each turn of the hold so many times as much comes as its shortest turn sends. Turns that do not grow would fall behind.
const INFLOW: i64 = 3;

/// After so many turns it has to be empty.
const TURNS_MAX: usize = 20;

/// The keys of either topic.
const KEYS: i64 = 3;

const WAITING: &str = "SELECT count(*) FROM outbox.parked WHERE state = 'waiting'";
const SENT: &str = "SELECT count(*) FROM outbox.parked WHERE state = 'sent'";

/// Whether the row that was written last is acknowledged, and when it was.
const LAST_ACKNOWLEDGED: &str =
    "SELECT count(*) FROM outbox.batches WHERE last_seq >= (SELECT max(seq) FROM outbox.events)";
const LAST_ACKNOWLEDGED_AT: &str =
    "SELECT min(acknowledged_at) FROM outbox.batches WHERE last_seq >= (SELECT max(seq) FROM outbox.events)";

/// Those who write to a held topic and, now and then, to another one.
struct Writers<'a> {
    house: &'a House,
    held: String,
    /// Every row's text is its number.
    written: i64,
    /// The numbers of the other topic's rows.
    others: BTreeSet<i64>,
}

impl Writers<'_> {
    /// Commits so many rows of the held topic and then one of the other, which is waited for until Kafka has acknowledged it:
    /// that is after the end of the hold's turn, and not only after that of its backlog.
    async fn write(&mut self, rows: i64) {
        let (first, last) = (self.written + 1, self.written + rows + 1);
        let insert = format!(
            "INSERT INTO outbox.events (topic, key, event_id, header_names, header_values, payload)
             SELECT CASE n WHEN {last} THEN '{}' ELSE '{}' END, convert_to('key ' || n % {KEYS}, 'UTF8'),
                 n::text AS event_id, '{{}}', '{{}}', convert_to(n::text, 'UTF8')
             FROM generate_series({first}, {last}) AS n
             ORDER BY n",
            self.house.topic, self.held
        );
        self.house.outbox.run(&insert).await;
        wake(&self.house.outbox.writer).await.expect("notified");
        self.written = last;
        self.others.insert(last);
        eventually("the other topic's row", async || {
            (self.house.outbox.number(LAST_ACKNOWLEDGED).await > 0).then_some(())
        })
        .await;
    }

    /// Each key of the topic has every text of its own that was written, in order.
    async fn are_whole_in(&self, topic: &str) {
        let of_topic = |number: &i64| self.others.contains(number) == (topic == self.house.topic);
        let records = read_to_end(topic).await;
        for key in 0..KEYS {
            let name = format!("key {key}");
            let of_key = records.iter().filter(|record| record.key.as_deref() == Some(name.as_bytes()));
            let found = first_occurrences(&of_key.map(text).collect::<Vec<_>>());
            let written = (1..=self.written).filter(|number| number % KEYS == key).filter(of_topic);
            let written: Vec<String> = written.map(|number| number.to_string()).collect();
            let wrong = written.iter().zip(&found).find(|(written, found)| written != found);
            assert_eq!((wrong, found.len()), (None, written.len()), "{name} of {topic}");
        }
    }
}

fn start(house: &House) -> Running {
    let settings = house
        .settings()
        .set("relay.lease_ms", 1_000)
        .set("relay.poll_interval_ms", 20)
        .set("relay.page_rows", PAGE_ROWS)
        .set("relay.linger_ms", LINGER_MS);
    house.relay(&settings)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_that_was_held_empties_though_more_comes_than_its_shortest_turns_send_and_no_other_waits_for_it()
 {
    let house = House::new(1).await;
    let held = format!("{}held", house.topics.prefix());
    let mut writers = Writers { house: &house, held, written: 0, others: BTreeSet::new() };
    let relay = start(&house);
    writers.write(BACKLOG_ROWS).await;
    relay.degraded(RELAY_TOPIC_MISSING).await;
    house.drained().await;
    // Whoever takes over does not know how much was parked: its first turn is as short as can be.
    relay.crash().await;
    house.topics.create("held", 1).await;
    let relay = start(&house);
    eventually("its first turn", async || (house.outbox.number(SENT).await > 0).then_some(())).await;
    writers.write(0).await;
    let shortest = house.outbox.number(&format!("{SENT} AND sent_at <= ({LAST_ACKNOWLEDGED_AT})")).await;
    assert!(house.outbox.number(WAITING).await > 0, "one turn of {shortest} rows sent them all");

    let mut turns = 0;
    loop {
        let before = house.outbox.number(SENT).await;
        let is_held = eventually("its next turn, or its end", async || {
            let is_held = house.outbox.number(OPEN_HOLDS).await > 0;
            (!is_held || house.outbox.number(SENT).await > before).then_some(is_held)
        })
        .await;
        if !is_held {
            break;
        }
        turns += 1;
        let left = house.outbox.number(WAITING).await;
        assert!(
            turns <= TURNS_MAX,
            "{left} rows are left after {TURNS_MAX} turns; the shortest sent {shortest}"
        );
        writers.write(INFLOW * shortest).await;
    }
    assert!(turns > 0, "nothing came while the topic was held");
    nothing_held(&house).await;
    house.drained().await;
    for topic in [&house.topic, &writers.held] {
        writers.are_whole_in(topic).await;
    }
    relay.end().await;
}
