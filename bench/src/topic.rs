//! Topics of the bench's own, and how far they are filled.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::message::BorrowedMessage;
use rdkafka::{Offset, TopicPartitionList};

/// How long one question to the broker may take.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// How often to ask for what is not there yet.
const ASK_INTERVAL: Duration = Duration::from_millis(20);

/// How long a topic that is known to hold more may give nothing.
const RECORD_MAX: Duration = Duration::from_secs(30);

/// One topic.
pub(crate) struct Topic {
    name: String,
    partitions: i32,
    consumer: BaseConsumer,
}

impl Topic {
    /// Makes it, and waits until every partition is there: seen, an idempotent producer's first batch came before its
    /// partition and its second one after, and the first, sent again, was then taken for a duplicate and lost. The broker
    /// writes its own time into each record.
    pub(crate) async fn create(bootstrap: &str, name: &str, partitions: i32) -> Result<Self> {
        let admin: AdminClient<DefaultClientContext> =
            ClientConfig::new().set("bootstrap.servers", bootstrap).create()?;
        let new = NewTopic::new(name, partitions, TopicReplication::Fixed(1));
        let new = new.set("message.timestamp.type", "LogAppendTime");
        let options = AdminOptions::new().operation_timeout(Some(ANSWER_MAX));
        for made in admin.create_topics([&new], &options).await? {
            if let Err((topic, code)) = made {
                bail!("Kafka does not make the topic {topic}: {code}");
            }
        }
        let consumer = ClientConfig::new()
            .set("bootstrap.servers", bootstrap)
            .set("group.id", name)
            .set("enable.auto.commit", "false")
            .create()?;
        let topic = Self { name: name.to_owned(), partitions, consumer };
        let asked = Instant::now();
        while let Err(error) = topic.records() {
            if asked.elapsed() > ANSWER_MAX {
                return Err(error);
            }
            tokio::time::sleep(ASK_INTERVAL).await;
        }
        Ok(topic)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// How many records it holds, by one question for the ends of all partitions.
    pub(crate) fn records(&self) -> Result<u64> {
        let ends = self.consumer.offsets_for_times(self.at(Offset::End)?, ANSWER_MAX);
        let ends = ends.with_context(|| format!("Kafka does not tell the ends of {}", self.name))?;
        let mut records = 0;
        for partition in ends.elements() {
            partition.error()?;
            let Offset::Offset(end) = partition.offset() else {
                bail!("partition {} of {} has no end", partition.partition(), self.name);
            };
            records += u64::try_from(end)?;
        }
        Ok(records)
    }

    /// Reads from the beginning until `each` wants no more.
    pub(crate) fn read(&self, mut each: impl FnMut(&BorrowedMessage<'_>) -> bool) -> Result<()> {
        self.consumer.assign(&self.at(Offset::Beginning)?)?;
        loop {
            let record = self.consumer.poll(RECORD_MAX).context("the topic gives no more")??;
            if !each(&record) {
                return Ok(self.consumer.unassign()?);
            }
        }
    }

    fn at(&self, offset: Offset) -> Result<TopicPartitionList> {
        let mut list = TopicPartitionList::new();
        for partition in 0..self.partitions {
            list.add_partition_offset(&self.name, partition, offset)?;
        }
        Ok(list)
    }
}
