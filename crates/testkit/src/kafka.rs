//! Topics of one's own, and reading a topic to its end.

use std::collections::BTreeSet;
use std::time::Duration;

use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::message::{Header, Headers, Message, OwnedHeaders};
use rdkafka::metadata::{MetadataPartition, MetadataTopic};
use rdkafka::producer::{FutureProducer, FutureRecord};
use rdkafka::{Offset, TopicPartitionList};
use uuid::Uuid;

use crate::bounded::WAIT_MAX;
use crate::environment::kafka_bootstrap;

/// A prefix that no other test uses. The topics under it are deleted when this goes out of scope.
#[derive(Debug)]
pub struct TestTopics {
    prefix: String,
}

impl TestTopics {
    /// A fresh prefix, without a topic.
    #[must_use]
    pub fn fresh() -> Self {
        Self { prefix: format!("t{}.", Uuid::new_v4().simple()) }
    }

    /// The prefix, with its closing dot.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Makes the topic `<prefix><name>` with so many partitions, and gives its whole name.
    ///
    /// # Panics
    /// When Kafka refuses.
    pub async fn create(&self, name: &str, partitions: i32) -> String {
        let topic = format!("{}{name}", self.prefix);
        let new = NewTopic::new(&topic, partitions, TopicReplication::Fixed(1));
        let made = admin(&kafka_bootstrap())
            .create_topics([&new], &AdminOptions::new().operation_timeout(Some(WAIT_MAX)))
            .await;
        match made.map(|mut results| results.pop()) {
            Ok(Some(Ok(_))) => topic,
            other => panic!("cannot create the topic {topic}: {other:?}"),
        }
    }
}

impl Drop for TestTopics {
    fn drop(&mut self) {
        let prefix = self.prefix.clone();
        // A thread of its own: dropping happens inside of a runtime that must not be blocked on itself.
        let deleted = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
            let topics = topics_under(&prefix).ok()?;
            let names: Vec<&str> = topics.iter().map(String::as_str).collect();
            if names.is_empty() {
                return Some(());
            }
            runtime.block_on(async {
                admin(&kafka_bootstrap()).delete_topics(&names, &AdminOptions::new()).await.ok()
            })?;
            Some(())
        });
        if !matches!(deleted.join(), Ok(Some(()))) {
            eprintln!(
                "could not delete the topics under {}: they stay until the test broker goes",
                self.prefix
            );
        }
    }
}

/// One topic under a prefix of its own.
#[derive(Debug)]
pub struct TestTopic {
    name: String,
    _topics: TestTopics,
}

impl TestTopic {
    /// A fresh topic with so many partitions.
    ///
    /// # Panics
    /// When Kafka refuses.
    pub async fn fresh(partitions: i32) -> Self {
        let topics = TestTopics::fresh();
        let name = topics.create("records", partitions).await;
        Self { name, _topics: topics }
    }

    /// Its whole name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// A record as it lies in the topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The partition it lies in.
    pub partition: i32,
    /// Its offset there.
    pub offset: i64,
    /// Its key.
    pub key: Option<Vec<u8>>,
    /// Its headers, in order.
    pub headers: Vec<(String, Option<Vec<u8>>)>,
    /// Its payload.
    pub payload: Option<Vec<u8>>,
}

impl Record {
    /// The first header of that name, as text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name)?;
        std::str::from_utf8(found.1.as_deref()?).ok()
    }
}

/// Every record that the topic holds when its end is reached, by partition and offset.
///
/// # Panics
/// When the topic is not there or cannot be read in time.
pub async fn read_to_end(topic: &str) -> Vec<Record> {
    read_from(&kafka_bootstrap(), topic).await
}

/// [`read_to_end`] of a topic on this broker.
pub(crate) async fn read_from(bootstrap: &str, topic: &str) -> Vec<Record> {
    let (name, bootstrap) = (topic.to_owned(), bootstrap.to_owned());
    let read = tokio::task::spawn_blocking(move || read_blocking(&bootstrap, &name)).await;
    match read {
        Ok(Ok(mut records)) => {
            records.sort_by_key(|record| (record.partition, record.offset));
            records
        }
        other => panic!("cannot read {topic} to its end: {other:?}"),
    }
}

/// Whether this broker tells its clients of a topic of that name.
pub(crate) async fn has_topic(bootstrap: &str, topic: &str) -> bool {
    let (name, bootstrap) = (topic.to_owned(), bootstrap.to_owned());
    let asked = tokio::task::spawn_blocking(move || {
        let consumer: BaseConsumer = client_of(&bootstrap).create()?;
        let metadata = consumer.fetch_metadata(Some(&name), WAIT_MAX)?;
        // A topic that is not there is answered for with an error.
        Ok::<_, KafkaError>(metadata.topics().iter().any(|topic| topic.error().is_none()))
    });
    match asked.await {
        Ok(Ok(has_topic)) => has_topic,
        other => panic!("the broker does not say whether it has {topic}: {other:?}"),
    }
}

/// Sends one record to a partition and waits until Kafka has it; gives its offset.
///
/// # Panics
/// When Kafka refuses.
pub async fn produce(
    topic: &str,
    partition: i32,
    key: Option<&[u8]>,
    headers: &[(&str, Option<&[u8]>)],
    payload: Option<&[u8]>,
) -> i64 {
    let producer: FutureProducer = client().set("acks", "all").create().expect("the settings are constants");
    let owned = headers
        .iter()
        .fold(OwnedHeaders::new(), |all, (key, value)| all.insert(Header { key, value: *value }));
    let mut record = FutureRecord::<[u8], [u8]>::to(topic).partition(partition).headers(owned);
    record.key = key;
    record.payload = payload;
    match producer.send(record, WAIT_MAX).await {
        Ok(delivery) => delivery.offset,
        Err((error, _)) => panic!("cannot send to {topic}-{partition}: {error}"),
    }
}

/// The offset that Kafka itself has committed for a consumer group's partition, if it has one.
///
/// # Panics
/// When Kafka does not say in time.
pub async fn committed_offset(group: &str, topic: &str, partition: i32) -> Option<i64> {
    let (group, topic) = (group.to_owned(), topic.to_owned());
    let asked = tokio::task::spawn_blocking(move || {
        let consumer: BaseConsumer = client().set("group.id", &group).create()?;
        let mut list = TopicPartitionList::new();
        list.add_partition(&topic, partition);
        let committed = consumer.committed_offsets(list, WAIT_MAX)?;
        Ok::<_, KafkaError>(committed.elements().first().and_then(|element| element.offset().to_raw()))
    });
    match asked.await {
        // A group without an offset has a negative one.
        Ok(Ok(offset)) => offset.filter(|offset| *offset >= 0),
        other => panic!("Kafka does not say what was committed: {other:?}"),
    }
}

fn read_blocking(bootstrap: &str, topic: &str) -> Result<Vec<Record>, KafkaError> {
    let consumer: BaseConsumer = client_of(bootstrap)
        .set("group.id", "waybill-testkit")
        .set("enable.auto.commit", "false")
        .set("enable.partition.eof", "true")
        .set("check.crcs", "true")
        .create()?;
    let metadata = consumer.fetch_metadata(Some(topic), WAIT_MAX)?;
    let partitions = metadata.topics().iter().flat_map(MetadataTopic::partitions);
    let mut open: BTreeSet<i32> = partitions.map(MetadataPartition::id).collect();
    let mut assignment = TopicPartitionList::new();
    for &partition in &open {
        assignment.add_partition_offset(topic, partition, Offset::Beginning)?;
    }
    consumer.assign(&assignment)?;
    let mut records = Vec::new();
    while !open.is_empty() {
        match consumer.poll(WAIT_MAX) {
            Some(Ok(message)) => records.push(owned(&message)),
            Some(Err(KafkaError::PartitionEOF(partition))) => {
                open.remove(&partition);
            }
            Some(Err(error)) => return Err(error),
            None => panic!("nothing came from {topic} for {} s", WAIT_MAX.as_secs()),
        }
    }
    Ok(records)
}

fn owned(message: &impl Message) -> Record {
    let headers = message.headers().into_iter().flat_map(Headers::iter);
    Record {
        partition: message.partition(),
        offset: message.offset(),
        key: message.key().map(<[u8]>::to_vec),
        headers: headers.map(|header| (header.key.to_owned(), header.value.map(<[u8]>::to_vec))).collect(),
        payload: message.payload().map(<[u8]>::to_vec),
    }
}

fn topics_under(prefix: &str) -> Result<Vec<String>, KafkaError> {
    let consumer: BaseConsumer = client().create()?;
    let metadata = consumer.fetch_metadata(None, Duration::from_secs(10))?;
    let names = metadata.topics().iter().map(|topic| topic.name().to_owned());
    Ok(names.filter(|name| name.starts_with(prefix)).collect())
}

pub(crate) fn admin(bootstrap: &str) -> AdminClient<DefaultClientContext> {
    client_of(bootstrap).create().expect("the settings are constants")
}

fn client() -> ClientConfig {
    client_of(&kafka_bootstrap())
}

fn client_of(bootstrap: &str) -> ClientConfig {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", bootstrap);
    config
}
