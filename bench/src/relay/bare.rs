//! The limit: the relay's producer without a relay, sending records that lie in memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rdkafka::ClientContext;
use rdkafka::config::ClientConfig;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{DeliveryResult, Header, OwnedHeaders};
use rdkafka::producer::{BaseRecord, Producer, ProducerContext, ThreadedProducer};

use super::event::{Event, ID, SOURCE, TYPE, VERSION};
use crate::progress::Meter;

/// What the relay's producer has that nobody configures (`services/relay/src/producer.rs`).
const SETTINGS: [(&str, &str); 6] = [
    ("message.max.bytes", "1048576"),
    ("acks", "all"),
    ("enable.idempotence", "true"),
    ("enable.gapless.guarantee", "true"),
    ("message.timeout.ms", "0"),
    ("partitioner", "murmur2_random"),
];

/// How long the acknowledgement of the last record may take.
const FLUSH_MAX: Duration = Duration::from_secs(60);

/// How long a full queue is left alone.
const FULL_WAIT: Duration = Duration::from_millis(1);

/// How often a person hears of it, in records.
const PROGRESS_RECORDS: u64 = 1_000;

/// Sends these events by a producer with these settings beside those, and gives how long it took from the first one to
/// the last one's acknowledgement.
pub(crate) fn send(
    settings: &[(&'static str, String)],
    topic: &str,
    events: &[Event],
    meter: &Meter,
) -> Result<Duration> {
    let acknowledged = Arc::new(AtomicU64::new(0));
    let mut config = ClientConfig::new();
    for (name, value) in SETTINGS {
        config.set(name, value);
    }
    for (name, value) in settings {
        config.set(*name, value);
    }
    let counter = Acknowledgements(Arc::clone(&acknowledged));
    let producer: ThreadedProducer<Acknowledgements> = config.create_with_context(counter)?;
    // Connected before the clock runs: the relay is when it drains.
    producer.client().fetch_metadata(Some(topic), FLUSH_MAX).context("the broker does not answer")?;
    let begun = Instant::now();
    for (number, event) in (0..).zip(events) {
        enqueue(&producer, topic, event)?;
        if number % PROGRESS_RECORDS == 0 {
            meter.set(acknowledged.load(Ordering::Relaxed));
        }
    }
    producer.flush(FLUSH_MAX).context("the last records are not acknowledged")?;
    let took = begun.elapsed();
    let count = acknowledged.load(Ordering::Relaxed);
    if count != events.len() as u64 {
        bail!("{count} of {} records were acknowledged", events.len());
    }
    Ok(took)
}

fn enqueue(producer: &ThreadedProducer<Acknowledgements>, topic: &str, event: &Event) -> Result<()> {
    loop {
        let headers = [(ID, event.id.as_str()), TYPE, SOURCE, VERSION]
            .iter()
            .fold(OwnedHeaders::new_with_capacity(4), |headers, (key, value)| {
                headers.insert(Header { key, value: Some(*value) })
            });
        let record = BaseRecord::to(topic).key(&event.key).payload(&event.payload).headers(headers);
        match producer.send(record) {
            Ok(()) => return Ok(()),
            Err((KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull), _)) => {
                std::thread::sleep(FULL_WAIT);
            }
            Err((error, _)) => return Err(error).context("the producer does not take a record"),
        }
    }
}

/// Counts what the broker has.
struct Acknowledgements(Arc<AtomicU64>);

impl ClientContext for Acknowledgements {}

impl ProducerContext for Acknowledgements {
    type DeliveryOpaque = ();

    fn delivery(&self, result: &DeliveryResult<'_>, (): ()) {
        if result.is_ok() {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}
