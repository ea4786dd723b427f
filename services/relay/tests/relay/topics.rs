//! One topic takes nothing: its rows wait in order, and those of every other topic flow.

use rdkafka::admin::{AdminOptions, AlterConfig, NewTopic, ResourceSpecifier, TopicReplication};
use waybill_outbox::{hold, wake};
use waybill_relay::codes::{RELAY_TOPIC_MISSING, RELAY_TOPIC_RECREATED, RELAY_TOPIC_STALLED};
use waybill_testkit::{WAIT_MAX, eventually, kafka_bootstrap, read_to_end};

use crate::fixtures::{House, Running, first_occurrences, text, write};
use crate::parking::nothing_held;
use crate::refusal::admin;

async fn texts(topic: &str) -> Vec<String> {
    let texts: Vec<String> = read_to_end(topic).await.iter().map(text).collect();
    first_occurrences(&texts)
}

fn start(house: &House) -> Running {
    house.relay(&house.settings().set("relay.lease_ms", 1_000).set("relay.poll_interval_ms", 100))
}

async fn healthy(relay: &Running) {
    eventually("it is healthy again", async || relay.health.report().reasons.is_empty().then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_that_is_missing_among_six_holds_only_its_own_rows_and_drains_once_it_is_there() {
    let house = House::new(1).await;
    let mut topics = Vec::new();
    for number in 0..5 {
        topics.push(house.topics.create(&format!("there{number}"), 1).await);
    }
    let missing = format!("{}missing", house.topics.prefix());
    let mut relay = start(&house);
    for number in 0..30 {
        for topic in topics.iter().chain([&missing]) {
            write(&house.outbox.writer, topic, "key", &number.to_string()).await;
        }
    }
    let expected: Vec<String> = (0..30).map(|number| number.to_string()).collect();
    house.drained().await;
    for topic in &topics {
        assert_eq!(texts(topic).await, expected);
    }
    let detail = relay.degraded(RELAY_TOPIC_MISSING).await;
    assert!(detail.contains("no topic of that name"), "{detail}");
    relay.crash().await;
    relay = start(&house);
    relay.degraded(RELAY_TOPIC_MISSING).await;
    house.topics.create("missing", 1).await;
    nothing_held(&house).await;
    write(&house.outbox.writer, &missing, "key", "30").await;
    house.drained().await;
    assert_eq!(texts(&missing).await, [expected, vec!["30".to_owned()]].concat());
    healthy(&relay).await;
    relay.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_that_was_deleted_and_made_again_gets_nothing_until_a_person_agrees() {
    let house = House::new(1).await;
    let other = house.topics.create("other", 1).await;
    let relay = start(&house);
    house.write("a", "1").await;
    house.write("a", "2").await;
    house.drained().await;
    admin().delete_topics(&[&house.topic], &AdminOptions::new()).await.expect("Kafka answers");
    let new = NewTopic::new(&house.topic, 1, TopicReplication::Fixed(1));
    eventually("the topic is made again", async || {
        let made = admin().create_topics([&new], &AdminOptions::new()).await.expect("Kafka answers");
        made.iter().all(Result::is_ok).then_some(())
    })
    .await;
    house.write("a", "3").await;
    write(&house.outbox.writer, &other, "a", "flows").await;
    relay.degraded(RELAY_TOPIC_RECREATED).await;
    house.drained().await;
    assert_eq!(texts(&other).await, ["flows"]);
    // Kafka may have taken it before anybody knew; it does not count as sent.
    let waiting = "SELECT count(*) FROM outbox.parked WHERE state = 'waiting'";
    assert_eq!(house.outbox.number(waiting).await, 1, "it is not the topic that was sent to");
    house.write("a", "4").await;
    house.drained().await;
    assert_eq!(house.outbox.number(waiting).await, 2);
    assert!(!house.delivered().await.contains(&"4".to_owned()));

    let settings = [("bootstrap.servers".to_owned(), kafka_bootstrap())];
    let id = waybill_topic_identity::topic_id(&settings, &house.topic, WAIT_MAX).await;
    let id = id.expect("an answer").expect("a topic");
    let api = house.outbox.database.role("api").await;
    api.batch_execute("SET search_path = outbox").await.expect("set");
    hold::accept_topic(&api, &house.topic, &id, "somebody", "it was me").await.expect("accepted");
    wake(&api).await.expect("notified");
    nothing_held(&house).await;
    assert_eq!(first_occurrences(&house.delivered().await), ["3", "4"]);
    healthy(&relay).await;
    relay.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_without_enough_replicas_waits_while_the_others_flow_and_nothing_of_it_is_marked() {
    let house = House::new(1).await;
    let starved = format!("{}starved", house.topics.prefix());
    let new = NewTopic::new(&starved, 1, TopicReplication::Fixed(1)).set("min.insync.replicas", "2");
    let made = admin().create_topics([&new], &AdminOptions::new()).await.expect("Kafka answers");
    assert!(made.iter().all(Result::is_ok), "{made:?}");
    let relay = start(&house);
    write(&house.outbox.writer, &starved, "a", "1").await;
    house.write("a", "flows").await;
    write(&house.outbox.writer, &starved, "a", "2").await;
    eventually("the other flows", async || (house.delivered().await == ["flows"]).then_some(())).await;
    assert_eq!(house.outbox.number("SELECT count(*) FROM outbox.batches WHERE events > 0").await, 0, "nothing is marked");
    relay.degraded(RELAY_TOPIC_STALLED).await;
    house.drained().await;
    house.write("a", "still").await;
    house.drained().await;
    let change = AlterConfig::new(ResourceSpecifier::Topic(&starved)).set("min.insync.replicas", "1");
    admin().alter_configs([&change], &AdminOptions::new()).await.expect("Kafka answers");
    nothing_held(&house).await;
    assert_eq!(texts(&starved).await, ["1", "2"]);
    assert_eq!(first_occurrences(&house.delivered().await), ["flows", "still"]);
    healthy(&relay).await;
    relay.end().await;
}
