//! The end of the facts' topic, from a time on: what consumers may have applied and a restored database may not know.

use std::collections::BTreeSet;
use std::time::Duration;

use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::message::{Headers, Message};
use rdkafka::metadata::{MetadataPartition, MetadataTopic};
use rdkafka::topic_partition_list::TopicPartitionListElem;
use rdkafka::{Offset, TopicPartitionList};
use tokio::sync::mpsc;
use waybill_contract::{Fact, Schemas, decode_fact};

/// How long one answer of Kafka may take, and how long nothing may come.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// So many facts are handed over at a time.
const FACTS_A_CHUNK: usize = 1_000;
/// So many chunks wait to be looked up.
const CHUNKS_WAITING_MAX: usize = 4;

/// Facts in the order of their partitions, and how many records were none of ours.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    pub(super) facts: Vec<Fact>,
    pub(super) unreadable: u64,
}

/// Reads on a thread of its own: librdkafka's consumer blocks.
pub(super) fn read(
    settings: Vec<(String, String)>,
    topic: String,
    since_ms: Option<i64>,
) -> mpsc::Receiver<Result<Chunk, KafkaError>> {
    let (sender, receiver) = mpsc::channel(CHUNKS_WAITING_MAX);
    std::thread::spawn(move || {
        if let Err(error) = read_blocking(&settings, &topic, since_ms, &sender) {
            // Whoever listened has gone.
            let _ = sender.blocking_send(Err(error));
        }
    });
    receiver
}

fn read_blocking(
    settings: &[(String, String)],
    topic: &str,
    since_ms: Option<i64>,
    sender: &mpsc::Sender<Result<Chunk, KafkaError>>,
) -> Result<(), KafkaError> {
    let schemas = Schemas::embedded().ok();
    let mut config: ClientConfig = settings.iter().cloned().collect();
    config
        .set("group.id", "waybill-outbox-rebase")
        .set("enable.auto.commit", "false")
        .set("enable.partition.eof", "true")
        .set("auto.offset.reset", "error")
        .set("check.crcs", "true");
    let consumer: BaseConsumer = config.create()?;
    let starts = starts(&consumer, topic, since_ms)?;
    let mut open: BTreeSet<i32> = starts.elements().iter().map(TopicPartitionListElem::partition).collect();
    consumer.assign(&starts)?;
    let mut chunk = Chunk::default();
    while !open.is_empty() {
        match consumer.poll(ANSWER_TIMEOUT) {
            Some(Ok(message)) => match schemas.as_ref().and_then(|schemas| fact(schemas, &message)) {
                Some(fact) => chunk.facts.push(fact),
                None => chunk.unreadable += 1,
            },
            Some(Err(KafkaError::PartitionEOF(partition))) => {
                open.remove(&partition);
            }
            Some(Err(error)) => return Err(error),
            None => {
                let code = rdkafka::types::RDKafkaErrorCode::OperationTimedOut;
                return Err(KafkaError::MessageConsumption(code));
            }
        }
        if (chunk.facts.len() >= FACTS_A_CHUNK || open.is_empty())
            && sender.blocking_send(Ok(std::mem::take(&mut chunk))).is_err()
        {
            return Ok(());
        }
    }
    Ok(())
}

/// Where each partition is read from: its first record at or after that time, or its first one.
fn starts(
    consumer: &BaseConsumer,
    topic: &str,
    since_ms: Option<i64>,
) -> Result<TopicPartitionList, KafkaError> {
    let metadata = consumer.fetch_metadata(Some(topic), ANSWER_TIMEOUT)?;
    let partitions = metadata.topics().iter().flat_map(MetadataTopic::partitions);
    let mut list = TopicPartitionList::new();
    for partition in partitions.map(MetadataPartition::id) {
        let offset = since_ms.map_or(Offset::Beginning, Offset::Offset);
        list.add_partition_offset(topic, partition, offset)?;
    }
    match since_ms {
        Some(_) => consumer.offsets_for_times(list, ANSWER_TIMEOUT),
        None => Ok(list),
    }
}

fn fact(schemas: &Schemas, message: &impl Message) -> Option<Fact> {
    let headers = message.headers().into_iter().flat_map(Headers::iter);
    decode_fact(schemas, headers.map(|header| (header.key, header.value)), message.payload()).ok()
}
