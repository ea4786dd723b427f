//! A partition's first request is refused, and the broker would take what comes behind it.
//!
//! A broker takes whatever number comes first from a producer that it does not know. Nothing may be on the way behind a
//! request as long as that is so: see `services/relay/src/partitions.rs`.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use rdkafka::admin::{AdminClient, AdminOptions, NewPartitions};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::ClientConfig;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer as _};
use waybill_testkit::{
    PrivateBroker, Record, Refusal, Settings, Wire, eventually, kafka_bootstrap, read_to_end,
};

use crate::fixtures::{House, text};
use crate::parking::nothing_held;

const PARTITIONS: i32 = 6;

/// So few that a key comes again within the few requests that are on the way, and that each partition has some.
const KEYS_A_PARTITION: i32 = 2;

/// Commits rows with these numbers, spread over the keys of so many partitions.
async fn write(house: &House, topic: &str, partitions: i32, numbers: std::ops::RangeInclusive<i64>) {
    let rows = "INSERT INTO outbox.events (topic, key, event_id, header_names, header_values, payload) \
                SELECT $1, convert_to('key ' || n % $2::integer, 'UTF8'), 'e', '{}', '{}', convert_to(n::text, 'UTF8') \
                FROM generate_series($3::bigint, $4::bigint) AS n";
    let keys = partitions * KEYS_A_PARTITION;
    let written = house.outbox.admin.execute(rows, &[&topic, &keys, numbers.start(), numbers.end()]).await;
    assert_eq!(written.expect("written"), numbers.count() as u64);
}

/// What is wrong with a log after repetitions are taken out: numbers up to this one that it lacks, and pairs of one key and
/// partition that stand the wrong way round.
fn wrong(records: &[Record], last: i64) -> (Vec<i64>, Vec<(i64, i64)>) {
    let (mut seen, mut before, mut inversions) = (HashSet::new(), HashMap::new(), Vec::new());
    for record in records {
        let number: i64 = text(record).parse().expect("a number");
        if seen.insert(number)
            && let Some(before) = before.insert((record.partition, &record.key), number)
            && before > number
        {
            inversions.push((before, number));
        }
    }
    ((1..=last).filter(|number| !seen.contains(number)).collect(), inversions)
}

const NOTHING: (Vec<i64>, Vec<(i64, i64)>) = (Vec::new(), Vec::new());

/// Requests of one row, so that several are on the way at once.
fn settings(house: &House, wire: &Wire) -> Settings {
    house.settings().set("kafka.bootstrap", wire.bootstrap()).set("relay.batch_bytes_max", 1)
}

/// The naive way: the client's own guarantees, with nothing beside them.
#[tokio::test(flavor = "multi_thread")]
async fn an_idempotent_producer_reports_rows_as_delivered_that_the_broker_refused() {
    let (broker, wire) = PrivateBroker::start_behind_a_wire().await;
    broker.create_topic("orders", 1).await;
    wire.refuse_first(Refusal::NoSuchPartition);
    let producer: BaseProducer = ClientConfig::new()
        .set("bootstrap.servers", wire.bootstrap())
        .set("enable.idempotence", "true")
        .set("enable.gapless.guarantee", "true")
        .set("linger.ms", "100")
        .set("batch.num.messages", "1")
        .create()
        .expect("a producer");
    for number in 1..=4 {
        let (key, payload) = ("key", number.to_string());
        producer.send(BaseRecord::to("orders").key(key).payload(&payload)).expect("queued");
    }
    producer.flush(Duration::from_secs(60)).expect("each row is reported as delivered");
    let there: Vec<String> = broker.read_to_end("orders").await.iter().map(text).collect();
    assert_eq!(there, ["2", "3", "4"], "if this fails the client was mended, and the relay's guard may go");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_or_overtaken_when_the_broker_refuses_the_first_request_of_each_partition() {
    for why in [Refusal::NoSuchPartition, Refusal::Corrupt] {
        let (broker, wire) = PrivateBroker::start_behind_a_wire().await;
        let house = House::new(1).await;
        broker.create_topic("orders", PARTITIONS).await;
        wire.refuse_first(why);
        write(&house, "orders", PARTITIONS, 1..=3_000).await;
        let relay = house.relay(&settings(&house, &wire));
        house.drained().await;
        assert_eq!(wire.refused(), 6);
        assert_eq!(wrong(&broker.read_to_end("orders").await, 3_000), NOTHING, "{why:?}");
        let parked = house.outbox.number("SELECT count(*) FROM outbox.parked").await;
        assert_eq!(parked, 0, "it was not the rows' fault");
        relay.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_or_overtaken_when_a_topic_gains_partitions_or_its_broker_comes_back() {
    let (broker, wire) = PrivateBroker::start_behind_a_wire().await;
    let house = House::new(1).await;
    broker.create_topic("orders", 1).await;
    let relay = house.relay(&settings(&house, &wire));
    write(&house, "orders", 1, 1..=1_000).await;
    house.drained().await;

    // The broker knows the producer from its log.
    broker.kill().await;
    write(&house, "orders", 1, 1_001..=2_000).await;
    wire.refuse_first(Refusal::NoSuchPartition);
    broker.run();
    house.drained().await;
    assert_eq!(wire.refused(), 1);
    assert_eq!(wrong(&broker.read_to_end("orders").await, 2_000), NOTHING);

    let client: AdminClient<DefaultClientContext> =
        ClientConfig::new().set("bootstrap.servers", broker.bootstrap()).create().expect("an admin client");
    let grown = [NewPartitions::new("orders", 3)];
    let grown = client.create_partitions(&grown, &AdminOptions::new()).await.expect("Kafka answers");
    assert!(grown.iter().all(Result::is_ok), "{grown:?}");
    wire.refuse_first(Refusal::NoSuchPartition);
    let last = Cell::new(2_000);
    eventually("its new partitions are used", async || {
        write(&house, "orders", 3, last.get() + 1..=last.get() + 500).await;
        last.set(last.get() + 500);
        house.drained().await;
        (wire.refused() == 3).then_some(())
    })
    .await;
    assert_eq!(wrong(&broker.read_to_end("orders").await, last.get()), NOTHING);
    relay.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_or_overtaken_when_the_broker_has_forgotten_the_producer() {
    let forgetful = "producer.id.expiration.ms=12000\nproducer.id.expiration.check.interval.ms=500";
    let (broker, wire) = PrivateBroker::start_behind_a_wire_with(forgetful).await;
    let house = House::new(1).await;
    broker.create_topic("orders", 1).await;
    let relay = house.relay(&settings(&house, &wire));
    write(&house, "orders", 1, 1..=1_000).await;
    house.drained().await;
    let who = ["describe-producers", "--topic", "orders", "--partition", "0"];
    let known = broker.tool("transactions", &who).await;
    assert!(known.lines().count() > 1, "{known}");
    eventually("the broker has forgotten the producer", async || {
        let known = broker.tool("transactions", &who).await;
        (known.lines().count() == 1).then_some(())
    })
    .await;
    wire.refuse_first(Refusal::NoSuchPartition);
    write(&house, "orders", 1, 1_001..=2_000).await;
    house.drained().await;
    assert_eq!(wire.refused(), 1);
    assert_eq!(wrong(&broker.read_to_end("orders").await, 2_000), NOTHING);
    relay.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn topics_that_are_made_while_many_rows_of_them_are_sent_lack_none() {
    const ROWS: i64 = 50_000;
    let house = House::new(1).await;
    let relay = house.relay(&house.settings());
    let mut topics = Vec::new();
    for number in 0..4 {
        let name = format!("new{number}");
        let topic = format!("{}{name}", house.topics.prefix());
        if number % 2 == 0 {
            house.topics.create(&name, PARTITIONS).await;
            write(&house, &topic, PARTITIONS, 1..=ROWS).await;
        } else {
            tokio::join!(write(&house, &topic, PARTITIONS, 1..=ROWS), house.topics.create(&name, PARTITIONS));
        }
        topics.push(topic);
    }
    for topic in &topics {
        house.drained().await;
        nothing_held(&house).await;
        assert_eq!(wrong(&read_to_end(topic).await, ROWS), NOTHING, "{topic}");
    }
    relay.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_goes_to_the_partition_to_which_librdkafka_sends_it() {
    let house = House::new(PARTITIONS).await;
    let other = house.topics.create("other", PARTITIONS).await;
    let producer: BaseProducer = ClientConfig::new()
        .set("bootstrap.servers", kafka_bootstrap())
        .set("partitioner", "murmur2_random")
        .create()
        .expect("a producer");
    let keys: Vec<String> = (1..200).map(|length| "key".repeat(length)[..length].to_owned()).collect();
    for key in &keys {
        house.write(key, key).await;
        producer.send(BaseRecord::to(&other).key(key).payload("")).expect("queued");
    }
    producer.flush(Duration::from_secs(60)).expect("sent");
    let relay = house.relay(&house.settings());
    house.drained().await;
    let places = async |topic: &str| -> BTreeMap<Option<Vec<u8>>, i32> {
        read_to_end(topic).await.into_iter().map(|record| (record.key, record.partition)).collect()
    };
    assert_eq!(places(&house.topic).await, places(&other).await);
    relay.end().await;
}
