//! Sends one row with a producer of its own, to find out whether its topic takes any.
//!
//! The row is the first that waits, so that it does no harm wherever it arrives: whatever follows it is sent later, and it
//! may come twice.

use std::time::Duration;

use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::producer::{FutureProducer, FutureRecord};
use waybill_outbox::window::Row;

use crate::options::Options;
use crate::producer::client_config;

/// How long Kafka may take to acknowledge the row.
const ACKNOWLEDGEMENT_MAX: Duration = Duration::from_secs(5);

/// Sends it and waits for the acknowledgement.
pub(crate) async fn send(
    settings: &[(String, String)],
    options: &Options,
    row: &Row,
) -> Result<(), KafkaError> {
    let Ok(record) = row.record() else {
        return Err(KafkaError::MessageProduction(RDKafkaErrorCode::InvalidRecord));
    };
    let producer: FutureProducer = client_config(settings, options)
        // It is one row, and nothing follows it: a timeout says all there is to know.
        .set("message.timeout.ms", ACKNOWLEDGEMENT_MAX.as_millis().to_string())
        .set("enable.gapless.guarantee", "false")
        .create()?;
    let mut headers = OwnedHeaders::new_with_capacity(record.header_names.len());
    for (name, value) in record.header_names.into_iter().zip(record.header_values) {
        headers = headers.insert(Header { key: name, value });
    }
    let mut sent = FutureRecord::<[u8], [u8]>::to(record.topic).headers(headers);
    sent.key = record.key;
    sent.payload = record.payload;
    let outcome = producer.send(sent, Duration::ZERO).await;
    // With brokers down its end can take long, and nobody need wait for it.
    std::thread::spawn(move || drop(producer));
    outcome.map(drop).map_err(|(error, _)| error)
}
