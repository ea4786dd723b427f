//! One topic takes nothing: its rows wait in order, and those of every other topic flow.

use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::ClientConfig;
use waybill_outbox::parked::Verb;
use waybill_outbox::{hold, wake};
use waybill_relay::codes::{
    RELAY_ROW_PARKED, RELAY_TOPIC_MISSING, RELAY_TOPIC_RECREATED, RELAY_TOPIC_STALLED,
    RELAY_TOPIC_UNAUTHORISED,
};
use waybill_testkit::{PrivateBroker, WAIT_MAX, eventually, kafka_bootstrap, read_to_end};

use crate::fixtures::{House, Running, first_occurrences, text, write};
use crate::parking::{decided, nothing_held};
use crate::refusal::{admin, delivered, noise, set_limit, topic_with_limit};

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

/// Somebody asks for what is held to be tried now, and not after a growing wait.
pub(crate) async fn at_once(house: &House) {
    let ask =
        "UPDATE outbox.holds SET resume_requested_at = now() WHERE ended_at IS NULL; NOTIFY waybill_outbox";
    house.outbox.run(ask).await;
}

/// A broker that is gone is missed soon.
const QUICK: &str =
    "broker.session.timeout.ms=3000\nbroker.heartbeat.interval.ms=500\nreplica.lag.time.max.ms=3000";

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_without_enough_replicas_waits_while_the_others_flow_and_nothing_of_it_is_marked() {
    let first = PrivateBroker::start_with(QUICK);
    let second = first.joined_with(QUICK);
    let client: AdminClient<DefaultClientContext> =
        ClientConfig::new().set("bootstrap.servers", first.bootstrap()).create().expect("an admin client");
    let on = |name: &'static str, brokers: &'static [&'static [i32]]| {
        NewTopic::new(name, 1, TopicReplication::Variable(brokers)).set("min.insync.replicas", "2")
    };
    // A topic of one replica asks for no more than that one.
    for topic in [on("starved", &[&[1, 2]]), on("there", &[&[1]])] {
        eventually("the topic is made", async || {
            let made = client.create_topics([&topic], &AdminOptions::new()).await.expect("Kafka answers");
            made.iter().all(Result::is_ok).then_some(())
        })
        .await;
    }
    let house = House::new(1).await;
    let settings =
        house.settings().set("kafka.bootstrap", first.bootstrap()).set("relay.poll_interval_ms", 100);
    let relay = house.relay(&settings);
    let acknowledged = "SELECT coalesce(sum(events), 0)::bigint FROM outbox.batches";
    write(&house.outbox.writer, "starved", "a", "1").await;
    house.drained().await;
    second.kill().await;
    // In sync, it is missed by the topic's leader, and from then on a row is not acknowledged.
    let sent = std::cell::Cell::new(1_i64);
    eventually("the topic takes nothing", async || {
        sent.set(sent.get() + 1);
        for topic in ["starved", "there"] {
            write(&house.outbox.writer, topic, "a", &sent.get().to_string()).await;
        }
        let reasons = relay.health.report().reasons;
        reasons.iter().any(|reason| reason.code == RELAY_TOPIC_STALLED).then_some(())
    })
    .await;
    let sent = sent.get();
    house.drained().await;
    let waiting = house.outbox.number("SELECT count(*) FROM outbox.parked WHERE state = 'waiting'").await;
    assert!(waiting > 0, "its rows wait");
    assert_eq!(
        house.outbox.number(acknowledged).await,
        1 + 2 * (sent - 1) - waiting,
        "each other row is marked, once"
    );
    second.run();
    at_once(&house).await;
    nothing_held(&house).await;
    house.drained().await;
    let expected: Vec<String> = (1..=sent).map(|number| number.to_string()).collect();
    let texts = |records: Vec<waybill_testkit::Record>| {
        first_occurrences(&records.iter().map(text).collect::<Vec<_>>())
    };
    assert_eq!(texts(first.read_to_end("starved").await), expected);
    assert_eq!(texts(first.read_to_end("there").await), expected[1..]);
    healthy(&relay).await;
    relay.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_whose_authorisation_was_revoked_keeps_its_backlog_while_the_others_flow() {
    let broker = PrivateBroker::start_with(
        "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer\nallow.everyone.if.no.acl.found=true",
    );
    broker.create_topic("guarded", 1).await;
    broker.create_topic("open", 1).await;
    let house = House::new(1).await;
    let settings =
        house.settings().set("kafka.bootstrap", broker.bootstrap()).set("relay.poll_interval_ms", 100);
    let relay = house.relay(&settings);
    write(&house.outbox.writer, "guarded", "a", "1").await;
    house.drained().await;
    // With one rule for a topic, whatever it does not allow is forbidden.
    let rule = [
        "--allow-principal",
        "User:*",
        "--operation",
        "Describe",
        "--operation",
        "Read",
        "--topic",
        "guarded",
    ];
    broker.tool("acls", &[&["--add"], &rule[..]].concat()).await;
    write(&house.outbox.writer, "guarded", "a", "2").await;
    write(&house.outbox.writer, "open", "a", "flows").await;
    write(&house.outbox.writer, "guarded", "a", "3").await;
    relay.degraded(RELAY_TOPIC_UNAUTHORISED).await;
    house.drained().await;
    let texts = |records: Vec<waybill_testkit::Record>| {
        first_occurrences(&records.iter().map(text).collect::<Vec<_>>())
    };
    assert_eq!(texts(broker.read_to_end("guarded").await), ["1"]);
    assert_eq!(texts(broker.read_to_end("open").await), ["flows"]);
    broker
        .tool(
            "acls",
            &[&["--add"], &["--allow-principal", "User:*", "--operation", "Write", "--topic", "guarded"][..]]
                .concat(),
        )
        .await;
    at_once(&house).await;
    nothing_held(&house).await;
    assert_eq!(texts(broker.read_to_end("guarded").await), ["1", "2", "3"]);
    healthy(&relay).await;
    relay.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_is_refused_in_a_held_topics_backlog_gets_a_hold_of_its_own_and_the_rest_flows() {
    let house = House::new(1).await;
    let missing = format!("{}limited", house.topics.prefix());
    let settings = house.settings().set("relay.compression", "none").set("relay.poll_interval_ms", 100);
    let relay = house.relay(&settings);
    for (key, letter, bytes) in
        [("one", 'a', 100), ("one", 'b', 6_000), ("two", 'c', 100), ("one", 'd', 100), ("two", 'e', 100)]
    {
        write(&house.outbox.writer, &missing, key, &noise(letter, bytes)).await;
    }
    relay.degraded(RELAY_TOPIC_MISSING).await;
    house.drained().await;
    assert_eq!(topic_with_limit(&house, "4000").await, missing);
    at_once(&house).await;
    let of_topic = "SELECT count(*) FROM outbox.holds WHERE scope = 'topic' AND ended_at IS NULL";
    eventually("the topic flows", async || (house.outbox.number(of_topic).await == 0).then_some(())).await;
    assert_eq!(delivered(&missing).await, ["a", "c", "e"]);
    relay.degraded(RELAY_ROW_PARKED).await;
    set_limit(&missing, "100000").await;
    let refused = house.outbox.number("SELECT seq FROM outbox.parked WHERE state = 'refused'").await;
    decided(&house, refused, Verb::Retry).await;
    nothing_held(&house).await;
    assert_eq!(delivered(&missing).await, ["a", "c", "e", "b", "d"]);
    healthy(&relay).await;
    relay.end().await;
}
