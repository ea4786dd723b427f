//! Where a partition starts, and that its position moves only with its effect and only by its holder.

use std::time::{Duration, Instant};

use rdkafka::ClientConfig;
use rdkafka::admin::{AdminClient, AdminOptions};
use rdkafka::client::DefaultClientContext;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use waybill_consumer::{ConsumerOptions, codes};
use waybill_testkit::{eventually, kafka_bootstrap};

use crate::bench::{Bench, Ledger};

const KAFKA_TIMEOUT: Duration = Duration::from_secs(10);

#[tokio::test(flavor = "multi_thread")]
async fn a_bound_group_begins_at_zero_and_kafkas_own_offset_follows() {
    let bench = Bench::bound(1).await;
    for id in ["a", "b", "c"] {
        bench.send(0, id, "x").await;
    }
    let member = bench.start();
    bench.reached(0, 3).await;
    assert_eq!(bench.ids().await, ["a", "b", "c"]);
    assert_eq!(committed_in_kafka(&bench).await, 3);
    member.end().await;
}

async fn committed_in_kafka(bench: &Bench) -> i64 {
    eventually("an offset in Kafka", async || {
        let (group, topic) = (bench.group.clone(), bench.topic.clone());
        let looked = tokio::task::spawn_blocking(move || {
            let client: BaseConsumer = ClientConfig::new()
                .set("bootstrap.servers", kafka_bootstrap())
                .set("group.id", group)
                .create()
                .unwrap();
            let mut list = TopicPartitionList::new();
            list.add_partition(&topic, 0);
            let list = client.committed_offsets(list, KAFKA_TIMEOUT).unwrap();
            list.elements()[0].offset()
        });
        if let Offset::Offset(offset) = looked.await.unwrap() { Some(offset) } else { None }
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_goes_on_at_the_stored_position_whatever_kafka_says() {
    let bench = Bench::bound(1).await;
    bench.send(0, "a", "x").await;
    let member = bench.start();
    bench.reached(0, 1).await;
    committed_in_kafka(&bench).await;
    member.end().await;
    // Somebody lost Kafka's offsets; the stored row wins.
    let admin: AdminClient<DefaultClientContext> = admin();
    admin.delete_groups(&[&bench.group], &AdminOptions::new()).await.unwrap();
    bench.send(0, "b", "x").await;
    let member = bench.start();
    bench.reached(0, 2).await;
    assert_eq!(bench.ids().await, ["a", "b"]);
    member.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unbound_group_halts_and_goes_on_by_itself_once_it_is_bound() {
    let bench = Bench::fresh(1).await;
    bench.send(0, "a", "x").await;
    let member = bench.start();
    let component = member.status.says(codes::TOPIC_UNBOUND).await;
    assert_eq!(component, format!("consumer.{}.0", bench.group));
    assert_eq!((bench.position(0).await, bench.ids().await.len()), (None, 0));
    bench.bind().await;
    bench.reached(0, 1).await;
    member.status.is_well().await;
    member.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_position_out_of_range_halts_its_partition_alone() {
    let bench = Bench::bound(2).await;
    for partition in [0, 1] {
        bench.send(partition, &format!("first-{partition}"), "x").await;
    }
    let member = bench.start();
    bench.reached(0, 1).await;
    bench.reached(1, 1).await;
    member.end().await;
    bench.admin.execute("UPDATE stats.positions SET next_offset = 7 WHERE partition = 0", &[]).await.unwrap();

    let member = bench.start();
    bench.send(0, "halted", "x").await;
    bench.send(1, "flows", "x").await;
    let component = member.status.says(codes::POSITION_OUT_OF_RANGE).await;
    assert_eq!(component, format!("consumer.{}.0", bench.group));
    bench.reached(1, 2).await;
    assert_eq!(bench.ids().await, ["first-0", "first-1", "flows"]);
    // An operator sets it right.
    bench.admin.execute("UPDATE stats.positions SET next_offset = 1 WHERE partition = 0", &[]).await.unwrap();
    bench.reached(0, 2).await;
    member.status.is_well().await;
    member.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_cut_off_under_a_running_consumer_halts_instead_of_jumping() {
    let bench = Bench::bound(1).await;
    bench.send(0, "a", "x").await;
    let member = bench.start();
    bench.reached(0, 1).await;
    member.end().await;
    for id in ["b", "c", "d"] {
        bench.send(0, id, "x").await;
    }
    let mut cut = TopicPartitionList::new();
    cut.add_partition_offset(&bench.topic, 0, Offset::Offset(3)).unwrap();
    admin().delete_records(&cut, &AdminOptions::new()).await.unwrap();
    let member = bench.start();
    member.status.says(codes::POSITION_OUT_OF_RANGE).await;
    assert_eq!((bench.ids().await, bench.position(0).await.unwrap().0), (vec!["a".to_owned()], 1));
    member.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_made_again_halts_while_it_is_consumed_and_after_a_restart() {
    let bench = Bench::bound(1).await;
    bench.send(0, "a", "x").await;
    let member = bench.start();
    bench.reached(0, 1).await;
    let before = bench.topic_id().await;
    admin().delete_topics(&[&bench.topic], &AdminOptions::new()).await.unwrap();
    eventually("the topic's end", async || bench.topic_id().await.is_none().then_some(())).await;
    member.status.says(codes::TOPIC_MISSING).await;
    eventually("the topic's return", async || {
        bench.topics.create("records", 1).await;
        bench.topic_id().await
    })
    .await;
    assert_ne!(bench.topic_id().await, before);
    bench.send(0, "other", "x").await;
    bench.send(0, "another", "x").await;
    member.status.says(codes::TOPIC_RECREATED).await;
    member.end().await;

    let member = bench.start();
    member.status.says(codes::TOPIC_RECREATED).await;
    assert_eq!((bench.ids().await, bench.position(0).await.unwrap().0), (vec!["a".to_owned()], 1));
    member.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_holder_whose_fence_was_taken_changes_nothing_and_takes_a_new_one_while_assigned() {
    let bench = Bench::bound(1).await;
    bench.send(0, "a", "x").await;
    let member = bench.start();
    bench.reached(0, 1).await;
    let (_, fence) = bench.position(0).await.unwrap();
    // As another holder would, and it applied one more record.
    bench.send(0, "theirs", "x").await;
    bench.reached(0, 2).await;
    bench
        .admin
        .execute("UPDATE stats.positions SET fence = fence + 1, next_offset = 2 WHERE partition = 0", &[])
        .await
        .unwrap();
    bench.send(0, "b", "x").await;
    bench.reached(0, 3).await;
    assert_eq!(bench.ids().await, ["a", "b", "theirs"]);
    assert_eq!(bench.position(0).await.unwrap().1, fence + 2);
    member.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn markers_and_aborted_records_are_passed_and_do_not_hang() {
    let bench = Bench::bound(1).await;
    let topic = bench.topic.clone();
    tokio::task::spawn_blocking(move || {
        let producer: BaseProducer = ClientConfig::new()
            .set("bootstrap.servers", kafka_bootstrap())
            .set("transactional.id", &topic)
            .create()
            .unwrap();
        producer.init_transactions(KAFKA_TIMEOUT).unwrap();
        for commits in [true, false, true] {
            producer.begin_transaction().unwrap();
            producer.send(BaseRecord::<[u8], [u8]>::to(&topic).partition(0).payload(b"x")).unwrap();
            producer.flush(KAFKA_TIMEOUT).unwrap();
            if commits {
                producer.commit_transaction(KAFKA_TIMEOUT).unwrap();
            } else {
                producer.abort_transaction(KAFKA_TIMEOUT).unwrap();
            }
        }
    })
    .await
    .unwrap();
    // Records at 0 and 4; the one at 2 was aborted; markers at 1, 3 and 5.
    let member = bench.start();
    bench.reached(0, 5).await;
    bench.send(0, "after", "x").await;
    bench.reached(0, 7).await;
    member.end().await;
    let member = bench.start();
    bench.send(0, "restarted", "x").await;
    bench.reached(0, 8).await;
    assert_eq!(bench.ids().await, ["", "after", "restarted"]);
    member.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_position_told_to_stop_is_never_passed() {
    let bench = Bench::bound(1).await;
    for id in ["a", "b", "c", "d"] {
        bench.send(0, id, "x").await;
    }
    bench
        .admin
        .execute(
            "INSERT INTO stats.positions (consumer_group, topic, partition, topic_id, next_offset, stop_at) \
             SELECT consumer_group, topic, 0, topic_id, 0, 2 FROM stats.topics",
            &[],
        )
        .await
        .unwrap();
    let member = bench.start();
    member.status.says(codes::POSITION_STOPPED).await;
    assert_eq!(
        (bench.position(0).await.unwrap().0, bench.ids().await),
        (2, vec!["a".to_owned(), "b".into()])
    );
    bench.admin.execute("UPDATE stats.positions SET stop_at = NULL", &[]).await.unwrap();
    bench.reached(0, 4).await;
    member.status.is_well().await;
    member.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_without_a_broker_is_bounded() {
    let bench = Bench::bound(1).await;
    // Nothing listens there.
    let settings = vec![("bootstrap.servers".to_owned(), "127.0.0.1:9".to_owned())];
    let options = ConsumerOptions {
        leave_timeout: Duration::from_secs(2),
        drain_timeout: Duration::from_secs(2),
        ..ConsumerOptions::new(&bench.group, &bench.topic, settings)
    };
    let member = bench.start_with(options, Ledger::default());
    member.status.says(codes::KAFKA_UNAVAILABLE).await;
    let asked = Instant::now();
    member.end().await;
    assert!(asked.elapsed() < Duration::from_secs(30), "{:?}", asked.elapsed());
}

fn admin() -> AdminClient<DefaultClientContext> {
    ClientConfig::new().set("bootstrap.servers", kafka_bootstrap()).create().unwrap()
}
