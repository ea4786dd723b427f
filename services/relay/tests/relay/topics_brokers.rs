//! One of a cluster's brokers is dead before the relay starts: what lies on it waits in order, and everything else flows.

use std::time::Duration;

use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::ClientConfig;
use waybill_outbox::wake;
use waybill_relay::codes::RELAY_TOPIC_STALLED;
use waybill_testkit::{PrivateBroker, WAIT_MAX, eventually};

use crate::fixtures::{House, first_occurrences, text, write};
use crate::parking::nothing_held;
use crate::topics::at_once;

/// Makes a topic whose only replica is on this broker.
async fn create_on(cluster: &PrivateBroker, name: &str, broker: i32) {
    let client: AdminClient<DefaultClientContext> =
        ClientConfig::new().set("bootstrap.servers", cluster.bootstrap()).create().expect("an admin client");
    let (replicas, options) = ([broker], AdminOptions::new());
    let partitions = [&replicas[..]];
    let topic = NewTopic::new(name, 1, TopicReplication::Variable(&partitions));
    eventually("the topic is made", async || {
        let made = client.create_topics([&topic], &options).await.expect("Kafka answers");
        made.iter().all(Result::is_ok).then_some(())
    })
    .await;
}

/// Any of the brokers may be the one that a client takes for the controller, a dead one as long as nobody misses it.
#[tokio::test(flavor = "multi_thread")]
async fn a_topics_id_is_learnt_whichever_broker_is_dead() {
    let first = PrivateBroker::start_with("broker.session.timeout.ms=60000");
    let second = first.joined_with("");
    create_on(&first, "there", 1).await;
    second.kill().await;
    // Under the second address a client may not know which broker answers it.
    let addresses = [first.bootstrap(), first.bootstrap().replace("127.0.0.1", "localhost")];
    assert_ne!(addresses[0], addresses[1]);
    let settings = addresses.map(|address| [("bootstrap.servers".to_owned(), address)]);
    let mut ids = Vec::new();
    for settings in settings.iter().cycle().take(8) {
        let id = waybill_topic_identity::topic_id(settings, "there", Duration::from_secs(20)).await;
        ids.push(id.expect("an answer").expect("a topic"));
    }
    ids.dedup();
    assert_eq!(ids.len(), 1, "{ids:?}");
    let none = waybill_topic_identity::topic_id(&settings[0], "nowhere", WAIT_MAX).await;
    assert_eq!(none.expect("an answer"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_broker_stops_its_own_topics_only_and_nothing_of_theirs_is_lost_or_overtaken() {
    let first = PrivateBroker::start();
    let second = first.joined_with("");
    create_on(&first, "live", 1).await;
    create_on(&first, "dead", 2).await;
    second.kill().await;
    let mut house = House::new(1).await;
    let settings =
        house.settings().set("kafka.bootstrap", first.bootstrap()).set("relay.poll_interval_ms", 100);
    // One transaction, and so one window.
    let tx = house.outbox.writer.transaction().await.expect("a transaction");
    for number in 0..40 {
        for topic in ["live", "dead"] {
            for key in ["a", "b"] {
                write(&tx, topic, key, &format!("{key}{number}")).await;
            }
        }
    }
    tx.commit().await.expect("committed");
    let relay = house.relay(&settings);
    let lost = "SELECT count(*) FROM outbox.events AS event, outbox.cursor \
                WHERE event.topic = 'dead' \
                AND (pg_visible_in_snapshot(event.xid, from_snapshot) \
                    OR (pg_visible_in_snapshot(event.xid, to_snapshot) AND event.seq <= after_seq)) \
                AND NOT EXISTS (SELECT FROM outbox.parked WHERE parked.seq = event.seq AND state = 'waiting')";
    let left = "SELECT count(*) FROM outbox.events, outbox.cursor \
                WHERE NOT pg_visible_in_snapshot(xid, from_snapshot)";
    eventually("what does not lie on the dead broker flows", async || {
        assert_eq!(house.outbox.number(lost).await, 0, "the cursor passes nothing that is not kept");
        (house.outbox.number(left).await == 0).then_some(())
    })
    .await;
    relay.degraded(RELAY_TOPIC_STALLED).await;
    for topic in ["live", "dead"] {
        for key in ["a", "b"] {
            write(&house.outbox.writer, topic, key, &format!("{key}40")).await;
        }
    }
    wake(&house.outbox.writer).await.expect("notified");
    house.drained().await;
    assert_eq!(house.outbox.number(lost).await, 0);
    let waiting = "SELECT count(*) FROM outbox.parked WHERE topic = 'dead' AND state = 'waiting'";
    assert_eq!(house.outbox.number(waiting).await, 82);
    let texts = async |topic: &str| {
        first_occurrences(&first.read_to_end(topic).await.iter().map(text).collect::<Vec<_>>())
    };
    let expected: Vec<String> =
        (0..41).flat_map(|number| [format!("a{number}"), format!("b{number}")]).collect();
    assert_eq!(texts("live").await, expected);

    second.run();
    at_once(&house).await;
    nothing_held(&house).await;
    assert_eq!(texts("dead").await, expected);
    assert_eq!(texts("live").await, expected);
    eventually("it is healthy again", async || relay.health.report().reasons.is_empty().then_some(())).await;
    relay.end().await;
}
