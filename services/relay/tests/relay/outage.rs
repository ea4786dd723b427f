//! Kafka is away: at the start, in the middle, and when the relay is asked to end.

use std::time::{Duration, Instant};

use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::ClientConfig;
use waybill_testkit::{PrivateBroker, eventually, within};

use crate::fixtures::House;

async fn create_topic(broker: &PrivateBroker, name: &str) {
    let admin: AdminClient<DefaultClientContext> =
        ClientConfig::new().set("bootstrap.servers", broker.bootstrap()).create().expect("an admin client");
    let topic = NewTopic::new(name, 3, TopicReplication::Fixed(1));
    let made = admin.create_topics([&topic], &AdminOptions::new()).await.expect("Kafka answers");
    assert!(made.iter().all(Result::is_ok), "{made:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_drain_after_the_broker_was_killed_with_rows_in_flight() {
    let broker = PrivateBroker::start();
    let house = House::new(1).await;
    let settings = house.settings().set("kafka.bootstrap", broker.bootstrap()).set("relay.page_rows", 500);
    create_topic(&broker, "orders").await;
    let relay = house.relay(&settings);
    let fill = "INSERT INTO outbox.events (topic, key, event_id, header_names, header_values, payload) \
                SELECT 'orders', convert_to((n % 50)::text, 'UTF8'), 'evt', '{}', '{}', convert_to(n::text, 'UTF8') \
                FROM generate_series(1, 10000) AS n";
    house.outbox.run(fill).await;
    let moved = "SELECT coalesce(sum(events), 0)::bigint FROM outbox.batches";
    eventually("some rows are acknowledged", async || (house.outbox.number(moved).await > 0).then_some(()))
        .await;
    broker.kill().await;
    house.outbox.run(fill).await;
    broker.run();
    house.drained().await;
    assert_eq!(house.outbox.number(moved).await, 20_000, "each row was acknowledged once");
    eventually("it is healthy again", async || relay.health.report().reasons.is_empty().then_some(())).await;
    relay.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_is_away_at_the_start_is_said_and_holds_up_no_shutdown() {
    let house = House::new(1).await;
    // Port 1 is nobody's.
    let relay = house.relay(&house.settings().set("kafka.bootstrap", "127.0.0.1:1"));
    house.write("a", "1").await;
    relay.degraded(waybill_relay::codes::RELAY_DELIVERY_FAILING).await;
    let place = house.outbox.place().await;
    let asked = Instant::now();
    within("the relay ends", relay.end()).await;
    assert!(asked.elapsed() < Duration::from_secs(20), "{:?}", asked.elapsed());
    assert_eq!(house.outbox.place().await, place, "nothing was marked");
    let free = "SELECT (lease_until <= now())::int::bigint FROM outbox.cursor";
    assert_eq!(house.outbox.number(free).await, 1, "the lease was given back");
    let next = house.relay(&house.settings());
    house.drained().await;
    assert_eq!(house.delivered().await, ["1"]);
    next.end().await;
}
