//! What was held goes on while its writers do: a topic's backlog empties, though more comes than its shortest turns send, and
//! many keys do not each cost the window's turn.

use std::collections::BTreeSet;

use tokio_util::sync::CancellationToken;
use waybill_outbox::parked::{Decision, Filter, Verb, decide_matching};
use waybill_outbox::wake;
use waybill_relay::codes::{RELAY_ROW_PARKED, RELAY_TOPIC_MISSING};
use waybill_testkit::{eventually, read_to_end};

use crate::fixtures::{House, Running, first_occurrences, text, write};
use crate::parking::{OPEN_HOLDS, nothing_held};

/// Small pages, before a producer that waits for a batch to fill: a turn of few rows is a whole turn.
const PAGE_ROWS: i64 = 5;
const LINGER_MS: i64 = 100;

/// So many rows are held at first when the topic comes back. If one turn sends too many of them to show anything, it is tried
/// again with twice as many, up to so many times.
const BACKLOG_ROWS: i64 = 1_000;
const DOUBLINGS_MAX: u32 = 6;

/// In each turn of the hold so many times as much comes as its shortest turn sends. Turns that do not grow would fall behind.
const INFLOW: i64 = 3;

/// After so many turns it has to be empty.
const TURNS_MAX: usize = 20;

/// The topic that is held, behind the prefix.
const HELD: &str = "held";

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

impl<'a> Writers<'a> {
    fn of(house: &'a House) -> Self {
        let held = format!("{}{HELD}", house.topics.prefix());
        Self { house, held, written: 0, others: BTreeSet::new() }
    }

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

/// Lets the topic be held with so many rows and come back. Answers the relay and how many rows the hold's first turn sent,
/// which was as short as can be; nothing when that left less than another such turn sends.
async fn first_turn(writers: &mut Writers<'_>, backlog: i64) -> Option<(Running, i64)> {
    let house = writers.house;
    let relay = start(house);
    writers.write(backlog).await;
    relay.degraded(RELAY_TOPIC_MISSING).await;
    house.drained().await;
    // Whoever takes over does not know how much was parked.
    relay.crash().await;
    house.topics.create(HELD, 1).await;
    let relay = start(house);
    eventually("its first turn", async || (house.outbox.number(SENT).await > 0).then_some(())).await;
    writers.write(0).await;
    let shortest = house.outbox.number(&format!("{SENT} AND sent_at <= ({LAST_ACKNOWLEDGED_AT})")).await;
    if house.outbox.number(WAITING).await >= shortest {
        return Some((relay, shortest));
    }
    relay.end().await;
    None
}

/// In each turn of the hold more comes than its shortest one sends, until it is empty all the same.
async fn empties(writers: &mut Writers<'_>, shortest: i64) {
    let house = writers.house;
    let mut turns = 0;
    loop {
        let before = house.outbox.number(SENT).await;
        writers.write(INFLOW * shortest).await;
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
    }
    assert!(turns > 0, "nothing came while the topic was held");
    nothing_held(house).await;
    house.drained().await;
    for topic in [&house.topic, &writers.held] {
        writers.are_whole_in(topic).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_that_was_held_empties_though_more_comes_than_its_shortest_turns_send_and_no_other_waits_for_it()
 {
    for doubling in 0..=DOUBLINGS_MAX {
        let house = House::new(1).await;
        let mut writers = Writers::of(&house);
        if let Some((relay, shortest)) = first_turn(&mut writers, BACKLOG_ROWS << doubling).await {
            empties(&mut writers, shortest).await;
            return relay.end().await;
        }
    }
    panic!("no backlog was more than one turn sends");
}

/// So many keys wait, each behind a refused row.
const REFUSED_KEYS: usize = 200;

/// How often the turn went to the holds: what they sent in a row, with nothing of the window between, is one.
const TURNS: &str = "
    SELECT count(*)
    FROM (
        SELECT is_of_hold, lag(is_of_hold, 1, false) OVER (ORDER BY noted_at) AS was_of_hold
        FROM (
            SELECT sent_at, true FROM outbox.parked WHERE state = 'sent'
            UNION ALL
            SELECT acknowledged_at, false FROM outbox.batches
        ) AS noted (noted_at, is_of_hold)
    ) AS turns
    WHERE is_of_hold AND NOT was_of_hold";

/// Appends rows to another topic, one after the other, until it is told to end.
async fn keep_writing(house: &House, is_over: &CancellationToken) {
    let writer = house.outbox.database.role("api").await;
    let mut written = 0;
    while !is_over.is_cancelled() {
        written += 1;
        write(&writer, &house.topic, "key", &written.to_string()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_keys_that_are_sent_again_at_once_share_the_turns_of_the_holds_however_much_comes() {
    let house = House::new(1).await;
    let again = house.topics.create("again", 1).await;
    let refused = format!(
        "WITH held AS (
             INSERT INTO outbox.holds (scope, topic, key, code, detail)
             SELECT 'key', '{again}', convert_to('key ' || n, 'UTF8'), 'relay-row-refused', ''
             FROM generate_series(1, {REFUSED_KEYS}) AS n
             RETURNING hold_id, key
         )
         INSERT INTO outbox.parked
             (seq, hold_id, state, xid, topic, key, event_id, header_names, header_values, payload, created_at, code)
         SELECT
             nextval(pg_get_serial_sequence('outbox.events', 'seq')), hold_id, 'refused', '5', '{again}', key, 'e', '{{}}',
             '{{}}', key, now(), 'relay-row-refused'
         FROM held"
    );
    house.outbox.run(&refused).await;
    let relay = house.relay(&house.settings().set("relay.poll_interval_ms", 20));
    relay.degraded(RELAY_ROW_PARKED).await;
    let is_over = CancellationToken::new();
    let all_are_sent = async {
        // All at once, as one decision about a topic's rows is.
        let mut db = house.outbox.database.role("api").await;
        db.batch_execute("SET search_path = outbox").await.expect("set");
        let tx = db.transaction().await.expect("begun");
        let decision = Decision { verb: Verb::Retry, by: "an operator", reason: "because" };
        let filter = Filter { topic: Some(&again), code: None };
        let matching = decide_matching(&tx, filter, decision).await.expect("decided");
        tx.commit().await.expect("committed");
        assert_eq!(usize::try_from(matching.rows), Ok(REFUSED_KEYS));
        nothing_held(&house).await;
        is_over.cancel();
    };
    tokio::join!(all_are_sent, keep_writing(&house, &is_over), keep_writing(&house, &is_over));
    let turns = house.outbox.number(TURNS).await;
    assert!(
        (1..=i64::try_from(REFUSED_KEYS / 4).expect("few")).contains(&turns),
        "{turns} turns for {REFUSED_KEYS} keys"
    );
    house.drained().await;
    let keys: BTreeSet<_> = read_to_end(&again).await.into_iter().filter_map(|record| record.key).collect();
    assert_eq!(keys.len(), REFUSED_KEYS);
    relay.end().await;
}
