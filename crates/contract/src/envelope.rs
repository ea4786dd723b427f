//! The envelope of facts and commands: a CloudEvent with Avro data, a time and a subject, in either mode.

use jiff::Timestamp;

use crate::cloud_event::{
    Attribute, CloudEvent, DATA_CONTENT_TYPE, Data, ID, MediaType, SOURCE, SPEC_VERSION, SPECVERSION,
    SUBJECT, TIME, TYPE,
};
use crate::error::{EncodeError, Malformed};
use crate::wire_format::PAYLOAD_BYTES_MAX;

/// The media type of the data: Avro in Confluent's wire format. Compared without regard to case and parameters (RFC 9110,
/// section 8.3.1).
pub const CONTENT_TYPE: &str = "application/vnd.confluent.avro";

/// The identity of an event, whatever envelope carries it. Compared byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventKey {
    /// The CloudEvents `source`.
    pub source: String,
    /// The CloudEvents `id`, unique within the source.
    pub id: String,
}

/// Headers of a Kafka record in their order. Kafka knows null values; what Waybill writes has none.
pub type Headers = Vec<(String, Option<Vec<u8>>)>;

/// A record as it goes to Kafka, without its topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The record's key: the bytes of the `export_id`.
    pub key: Vec<u8>,
    /// The CloudEvents `id`, for whoever tracks the record.
    pub event_id: String,
    /// The headers in their order.
    pub headers: Headers,
    /// The record's value.
    pub payload: Vec<u8>,
}

/// What the contract requires: CloudEvents' own attributes, and `time` and `subject`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Envelope {
    pub(crate) key: EventKey,
    pub(crate) event_type: String,
    pub(crate) time: Timestamp,
    pub(crate) subject: String,
}

impl Envelope {
    /// The headers that say it, in binary mode. What no reader would accept is refused here.
    pub(crate) fn write(&self) -> Result<Headers, EncodeError> {
        let time = self.time.to_string();
        let attributes = [
            (DATA_CONTENT_TYPE, CONTENT_TYPE),
            (SPECVERSION, SPEC_VERSION),
            (TYPE, &self.event_type),
            (SOURCE, &self.key.source),
            (ID, &self.key.id),
            (TIME, &time),
            (SUBJECT, &self.subject),
        ];
        let attributes = attributes.map(|(name, text)| Attribute::text(name, text)).to_vec();
        let event = CloudEvent::new(attributes, None).map_err(EncodeError::Attribute)?;
        Ok(event.to_binary().headers)
    }

    /// The envelope of a record, and the Avro data in it.
    pub(crate) fn read<'a>(
        headers: impl IntoIterator<Item = (&'a str, Option<&'a [u8]>)>,
        payload: Option<&[u8]>,
    ) -> Result<(Self, Option<Data>), Malformed> {
        if let Some(bytes) = payload.map(<[u8]>::len).filter(|bytes| *bytes > PAYLOAD_BYTES_MAX) {
            return Err(Malformed::PayloadTooLarge { bytes });
        }
        let event = CloudEvent::read(headers, payload)?;
        let missing = |attribute| Malformed::AttributeMissing { attribute };
        let content_type = event.data_content_type().ok_or_else(|| missing(DATA_CONTENT_TYPE))?;
        if MediaType::parse(content_type).is_none_or(|media_type| media_type.essence() != CONTENT_TYPE) {
            return Err(Malformed::ContentType { found: content_type.to_owned() });
        }
        let envelope = Self {
            key: event.event_key(),
            event_type: event.event_type().to_owned(),
            time: event.time().ok_or_else(|| missing(TIME))?.instant(),
            subject: event.subject().ok_or_else(|| missing(SUBJECT))?.to_owned(),
        };
        Ok((envelope, event.into_data()))
    }
}
