//! Kafka refuses a batch whose records it would take one by one.

use rdkafka::admin::{AdminClient, AdminOptions, AlterConfig, NewTopic, ResourceSpecifier, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::ClientConfig;
use waybill_testkit::{eventually, kafka_bootstrap, read_to_end};

use crate::fixtures::{House, first_occurrences, text, write};

pub(crate) fn admin() -> AdminClient<DefaultClientContext> {
    ClientConfig::new().set("bootstrap.servers", kafka_bootstrap()).create().expect("an admin client")
}

pub(crate) async fn topic_with_limit(house: &House, bytes: &str) -> String {
    let name = format!("{}limited", house.topics.prefix());
    let topic = NewTopic::new(&name, 1, TopicReplication::Fixed(1)).set("max.message.bytes", bytes);
    let made = admin().create_topics([&topic], &AdminOptions::new()).await.expect("Kafka answers");
    assert!(made.iter().all(Result::is_ok), "{made:?}");
    name
}

pub(crate) async fn set_limit(topic: &str, bytes: &str) {
    let change = AlterConfig::new(ResourceSpecifier::Topic(topic)).set("max.message.bytes", bytes);
    let changed = admin().alter_configs([&change], &AdminOptions::new()).await.expect("Kafka answers");
    assert!(changed.iter().all(Result::is_ok), "{changed:?}");
}

pub(crate) async fn delivered(topic: &str) -> Vec<String> {
    let texts: Vec<String> = read_to_end(topic).await.iter().map(text).collect();
    first_occurrences(&texts).iter().map(|text| text.chars().take(1).collect()).collect()
}

/// A letter and so many bytes that no codec makes smaller.
pub(crate) fn noise(letter: char, bytes: usize) -> String {
    let mut state = u64::from(u32::from(letter));
    let noise = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'!' + u8::try_from((state >> 33) % 90).expect("below 90"))
    });
    std::iter::once(letter).chain(noise.take(bytes - 1)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_that_is_refused_though_each_record_fits_arrives_in_order() {
    let mut house = House::new(1).await;
    house.topic = topic_with_limit(&house, "4000").await;
    let settings = house.settings().set("relay.compression", "none").set("relay.linger_ms", 100);
    for letter in ['a', 'b', 'c', 'd'] {
        house.write("key", &noise(letter, 1_500)).await;
    }
    let relay = house.relay(&settings);
    house.drained().await;
    assert_eq!(delivered(&house.topic).await, ["a", "b", "c", "d"]);
    eventually("it is healthy again", async || relay.health.report().reasons.is_empty().then_some(())).await;
    relay.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_while_rows_go_one_by_one_leaves_the_rest_in_the_window() {
    let mut house = House::new(1).await;
    house.topic = topic_with_limit(&house, "4000").await;
    let settings = house.settings().set("relay.compression", "none").set("relay.linger_ms", 50);
    let texts: Vec<String> = (0..20).map(|number| noise(char::from(b'a' + number), 1_500)).collect();
    for text in &texts {
        write(&house.outbox.writer, &house.topic, "key", text).await;
    }
    let moves = "SELECT count(*) FROM outbox.batches";
    let relay = house.relay(&settings);
    eventually("one of them is acknowledged", async || (house.outbox.number(moves).await > 0).then_some(()))
        .await;
    relay.end().await;
    assert!(house.outbox.number(moves).await < 20, "it was stopped in the middle");
    let relay = house.relay(&settings);
    house.drained().await;
    let letters: Vec<String> = texts.iter().map(|text| text.chars().take(1).collect()).collect();
    assert_eq!(delivered(&house.topic).await, letters);
    relay.end().await;
}
