//! The Kafka producer: idempotent, gapless, without a message timeout, and every row accounted for.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rdkafka::ClientContext;
use rdkafka::config::{ClientConfig, RDKafkaLogLevel};
use rdkafka::error::{KafkaError, KafkaResult, RDKafkaErrorCode};
use rdkafka::message::{DeliveryResult, Header, Message as _, OwnedHeaders};
use rdkafka::producer::{BaseRecord, Producer as _, ProducerContext, PurgeConfig, ThreadedProducer};
use tokio::sync::{mpsc, oneshot};
use waybill_outbox::window::Record;

use crate::delivery::{Place, Report};
use crate::options::Options;

/// How long the reports of purged rows are waited for.
const PURGE_MAX: Duration = Duration::from_secs(2);

/// How long the end of a producer is waited for. With brokers down it can take over a minute; a thread of its own then
/// sees to it.
const DISCARD_MAX: Duration = Duration::from_secs(3);

/// The largest request in bytes: Kafka's default `max.message.bytes`, so that the broker and not the client decides.
const REQUEST_BYTES_MAX: usize = 1_048_576;

/// The producer's queue holds so much more than what the relay puts in, so that it is never the bound.
const QUEUE_FACTOR: usize = 4;

/// Settings, aliases included, that the configuration of all Kafka clients cannot change for this one.
const OURS: &[&str] = &[
    "acks",
    "request.required.acks",
    "enable.idempotence",
    "enable.gapless.guarantee",
    "message.timeout.ms",
    "delivery.timeout.ms",
    "transactional.id",
    "partitioner",
    "linger.ms",
    "queue.buffering.max.ms",
    "batch.size",
    "compression.type",
    "compression.codec",
    "queue.buffering.max.messages",
    "queue.buffering.max.kbytes",
];

/// Why a row was not queued.
#[derive(Debug)]
pub(crate) enum NotQueued {
    /// The queue is full. Later.
    Full,
    /// The producer will not have it.
    Failed(KafkaError),
}

impl NotQueued {
    /// It is no record.
    pub(crate) const fn invalid() -> Self {
        Self::Failed(KafkaError::MessageProduction(RDKafkaErrorCode::InvalidArgument))
    }
}

/// One producer, until its first failure.
pub(crate) struct Producer {
    inner: ThreadedProducer<Reports>,
    reports: mpsc::UnboundedReceiver<Report>,
    last_error: Arc<Mutex<Option<String>>>,
    outstanding: usize,
}

impl Producer {
    /// Makes one. It connects in the background.
    pub(crate) fn start(settings: &[(String, String)], options: &Options) -> KafkaResult<Self> {
        // At most one report for each queued row waits here, and the flight bounds those.
        let (sender, reports) = mpsc::unbounded_channel();
        let last_error = Arc::<Mutex<Option<String>>>::default();
        let context = Reports { sender, last_error: Arc::clone(&last_error) };
        let inner = client_config(settings, options).create_with_context(context)?;
        Ok(Self { inner, reports, last_error, outstanding: 0 })
    }

    /// Makes one and ends it again, in the background: whether the settings can be used shows only then, and a standby
    /// should not find out when it is needed.
    pub(crate) fn check(settings: &[(String, String)], options: &Options) -> KafkaResult<()> {
        let producer = Self::start(settings, options)?;
        std::thread::spawn(move || drop(producer));
        Ok(())
    }

    /// Queues a row for this partition.
    pub(crate) fn send(&mut self, seq: i64, partition: i32, record: Record<'_>) -> Result<(), NotQueued> {
        let Ok(opaque) = usize::try_from(seq) else {
            return Err(NotQueued::invalid());
        };
        let Record { topic, key, header_names, header_values, payload } = record;
        let mut headers = OwnedHeaders::new_with_capacity(header_names.len());
        for (name, value) in header_names.into_iter().zip(header_values) {
            headers = headers.insert(Header { key: name, value });
        }
        let record = BaseRecord {
            topic,
            partition: Some(partition),
            payload,
            key,
            timestamp: None,
            headers: Some(headers),
            delivery_opaque: opaque,
        };
        match self.inner.send(record) {
            Ok(()) => {
                self.outstanding += 1;
                Ok(())
            }
            Err((KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull), _)) => Err(NotQueued::Full),
            Err((error, _)) => Err(NotQueued::Failed(error)),
        }
    }

    /// The next report. Cancel safe.
    pub(crate) async fn report(&mut self) -> Option<Report> {
        let report = self.reports.recv().await?;
        self.outstanding -= 1;
        Some(report)
    }

    /// A report that is already there.
    pub(crate) fn try_report(&mut self) -> Option<Report> {
        let report = self.reports.try_recv().ok()?;
        self.outstanding -= 1;
        Some(report)
    }

    /// Whether rows were queued of which nothing was reported yet.
    pub(crate) fn is_busy(&self) -> bool {
        self.outstanding > 0
    }

    /// What librdkafka complained about last.
    pub(crate) fn last_error(&self) -> Option<String> {
        self.last_error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes back what is queued or in flight and collects what is known about it. After that nothing more is sent,
    /// apart from what already lies in a socket.
    pub(crate) async fn purge(&mut self) -> Vec<Report> {
        self.inner.purge(PurgeConfig::default().queue().inflight().non_blocking());
        let mut collected = Vec::new();
        let gather = async {
            while self.outstanding > 0 {
                let Some(report) = self.report().await else { break };
                collected.push(report);
            }
        };
        if tokio::time::timeout(PURGE_MAX, gather).await.is_err() {
            tracing::debug!(rows = self.outstanding, "the producer did not report every purged row in time");
        }
        collected
    }

    /// Ends the producer in a bounded time; see [`DISCARD_MAX`].
    pub(crate) async fn discard(self) {
        let (done, ended) = oneshot::channel();
        let Self { inner, .. } = self;
        std::thread::spawn(move || {
            inner.purge(PurgeConfig::default().queue().inflight().non_blocking());
            drop(inner);
            // Whoever waited may have gone.
            let _ = done.send(());
        });
        if tokio::time::timeout(DISCARD_MAX, ended).await.is_err() {
            tracing::debug!("a discarded producer is still ending");
        }
    }
}

/// What stands under and what over the configured settings: nothing that a promise rests on can be configured away.
pub(crate) fn client_config(settings: &[(String, String)], options: &Options) -> ClientConfig {
    let queue_rows =
        options.flight_rows_max().saturating_add(options.page_rows()).saturating_mul(QUEUE_FACTOR);
    let queue_bytes = options.flight_bytes_max().saturating_mul(2 * QUEUE_FACTOR as u64);
    let mut config = ClientConfig::new();
    config
        .set("reconnect.backoff.max.ms", "1000")
        .set("socket.keepalive.enable", "true")
        // Every topic was asked for before its first row: when one is gone, it need not be waited for.
        .set("topic.metadata.propagation.max.ms", "5000")
        .set("message.max.bytes", REQUEST_BYTES_MAX.to_string());
    for (name, value) in settings.iter().filter(|(name, _)| !OURS.contains(&name.as_str())) {
        config.set(name, value);
    }
    config
        .set("acks", "all")
        .set("enable.idempotence", "true")
        .set("enable.gapless.guarantee", "true")
        .set("message.timeout.ms", "0")
        // As the relay's own, for whoever leaves the choice to librdkafka.
        .set("partitioner", "murmur2_random")
        .set("linger.ms", options.linger.as_millis().to_string())
        .set("batch.size", options.batch_bytes_max.clamp(1, i32::MAX as usize).to_string())
        .set("compression.type", options.compression.as_str())
        .set("queue.buffering.max.messages", queue_rows.clamp(1, i32::MAX as usize).to_string())
        .set("queue.buffering.max.kbytes", (queue_bytes / 1024).clamp(1024, i32::MAX as u64).to_string())
        .set_log_level(RDKafkaLogLevel::Warning);
    config
}

/// Turns librdkafka's callbacks into messages.
struct Reports {
    sender: mpsc::UnboundedSender<Report>,
    last_error: Arc<Mutex<Option<String>>>,
}

impl ClientContext for Reports {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        // The relay says itself what follows from it; this is for whoever looks closer.
        tracing::debug!(level = ?level, facility, message, "librdkafka");
    }

    fn error(&self, error: KafkaError, reason: &str) {
        let text = format!("{error}: {reason}");
        tracing::debug!(error = %text, "librdkafka");
        *self.last_error.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }
}

impl ProducerContext for Reports {
    type DeliveryOpaque = usize;

    fn delivery(&self, result: &DeliveryResult<'_>, opaque: usize) {
        let outcome = match result {
            Ok(message) => Ok(Place { partition: message.partition(), offset: message.offset() }),
            Err((error, message)) => {
                tracing::debug!(outbox.seq = opaque, topic = message.topic(), %error, "not delivered");
                Err(error.clone())
            }
        };
        let Ok(seq) = i64::try_from(opaque) else { return };
        // Nobody listens any more to a producer that was discarded.
        let _ = self.sender.send(Report { seq, outcome });
    }
}
