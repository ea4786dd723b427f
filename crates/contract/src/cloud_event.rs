//! CloudEvents 1.0.2, whatever mode a Kafka record carries it in.
//!
//! The codec keeps what it reads byte for byte: an attribute's text as it came (a time keeps its offset and its digits, a
//! `dataschema` its spelling), the order of the attributes, extensions that nobody here knows, and the data. What is no
//! CloudEvent has a reason, never a guess.
//!
//! Deliberately absent: batches, which the Kafka Protocol Binding does not have (section 1.3), and the meaning of any
//! extension.

mod attribute;
mod binary;
mod media_type;
mod structured;
mod time;

use crate::envelope::{EventKey, Headers};
use crate::error::Malformed;

pub use attribute::{Attribute, AttributeValue};
pub use time::EventTime;

pub(crate) use attribute::is_uri_reference;
pub(crate) use media_type::MediaType;

/// The `specversion` of every event, which stands for CloudEvents 1.0.2 as for all of 1.0.
pub const SPEC_VERSION: &str = "1.0";

/// The longest attribute of CloudEvents' own, in bytes: `source` and `id` together must fit into one key of a Postgres
/// index, which takes 2,704. Extensions are bounded by the record that holds them.
pub const ATTRIBUTE_BYTES_MAX: usize = 1_024;

pub(crate) const SPECVERSION: &str = "specversion";
pub(crate) const ID: &str = "id";
pub(crate) const SOURCE: &str = "source";
pub(crate) const TYPE: &str = "type";
pub(crate) const SUBJECT: &str = "subject";
pub(crate) const TIME: &str = "time";
pub(crate) const DATA_SCHEMA: &str = "dataschema";
pub(crate) const DATA_CONTENT_TYPE: &str = "datacontenttype";
const REQUIRED: [&str; 4] = [SPECVERSION, ID, SOURCE, TYPE];

/// Where Kafka's binding puts `datacontenttype` in binary mode, and the mode itself (section 3).
pub(crate) const HEADER_CONTENT_TYPE: &str = "content-type";

/// One event. There is none that is not sound: whoever holds it need not look again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CloudEvent {
    attributes: Vec<Attribute>,
    data: Option<Data>,
}

/// What an event carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Data {
    /// Bytes of the content type: all of binary mode, and `data_base64`.
    Bytes(Vec<u8>),
    /// A JSON value as it was written, without what stood around it: `data` of a content type that is JSON.
    Json(String),
    /// A text of another content type: `data` that is a JSON string.
    Text(String),
}

impl Data {
    /// What binary mode carries.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Json(text) | Self::Text(text) => text.as_bytes(),
        }
    }
}

/// A record's headers and value, without its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried {
    /// The headers in their order.
    pub headers: Headers,
    /// The value; `None` is Kafka's tombstone.
    pub payload: Option<Vec<u8>>,
}

impl CloudEvent {
    /// An event of these attributes, in this order, and this data.
    ///
    /// # Errors
    /// It is not sound: the reason is the one that a reader would give.
    pub fn new(attributes: Vec<Attribute>, data: Option<Data>) -> Result<Self, Malformed> {
        let event = Self { attributes, data };
        event.check()?;
        Ok(event)
    }

    /// The event in a record's headers and value. A value that is null in binary mode is an event without data: where a
    /// topic is compacted, its tombstone (Kafka Protocol Binding, section 3.2.2).
    ///
    /// # Errors
    /// It is none, and how.
    pub fn read<'a>(
        headers: impl IntoIterator<Item = (&'a str, Option<&'a [u8]>)>,
        payload: Option<&[u8]>,
    ) -> Result<Self, Malformed> {
        let headers = binary::attributes(headers)?;
        let content_type = headers.iter().find(|attribute| attribute.name == DATA_CONTENT_TYPE);
        let content_type = content_type.and_then(|attribute| attribute.value.as_text());
        match content_type.map(MediaType::parse) {
            Some(Some(media_type)) if media_type.is_cloud_events_json() => {
                structured::read(&headers, payload)
            }
            Some(Some(media_type)) if media_type.is_cloud_events() => {
                Err(Malformed::ContentType { found: media_type.essence() })
            }
            _ => Self::new(headers, payload.map(|bytes| Data::Bytes(bytes.to_vec()))),
        }
    }

    /// The event in binary mode.
    pub fn to_binary(&self) -> Carried {
        binary::write(self)
    }

    /// The event in structured mode, as JSON.
    pub fn to_structured(&self) -> Carried {
        structured::write(self)
    }

    /// The identity, compared byte for byte.
    pub fn event_key(&self) -> EventKey {
        EventKey { source: self.source().to_owned(), id: self.id().to_owned() }
    }

    /// Unique within the source.
    pub fn id(&self) -> &str {
        self.text(ID).unwrap_or_default()
    }

    /// Who said it: a URI reference.
    pub fn source(&self) -> &str {
        self.text(SOURCE).unwrap_or_default()
    }

    /// What kind of event it is.
    pub fn event_type(&self) -> &str {
        self.text(TYPE).unwrap_or_default()
    }

    /// What it is about, within its source.
    pub fn subject(&self) -> Option<&str> {
        self.text(SUBJECT)
    }

    /// When it happened.
    pub fn time(&self) -> Option<EventTime<'_>> {
        self.text(TIME).and_then(EventTime::parse)
    }

    /// The media type of the data.
    pub fn data_content_type(&self) -> Option<&str> {
        self.text(DATA_CONTENT_TYPE)
    }

    /// Which schema the data adheres to: a URI.
    pub fn data_schema(&self) -> Option<&str> {
        self.text(DATA_SCHEMA)
    }

    /// All attributes in their order, extensions among them.
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// An attribute of any name.
    pub fn attribute(&self, name: &str) -> Option<&AttributeValue> {
        self.attributes.iter().find(|attribute| attribute.name == name).map(|attribute| &attribute.value)
    }

    /// What it carries.
    pub const fn data(&self) -> Option<&Data> {
        self.data.as_ref()
    }

    /// What it carries, alone.
    pub fn into_data(self) -> Option<Data> {
        self.data
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.attribute(name).and_then(AttributeValue::as_text)
    }

    fn check(&self) -> Result<(), Malformed> {
        for (place, attribute) in self.attributes.iter().enumerate() {
            attribute.check()?;
            let before = &self.attributes[..place];
            if before.iter().any(|other| other.name == attribute.name) {
                return Err(Malformed::AttributeDuplicated { attribute: attribute.name.clone() });
            }
        }
        match REQUIRED.into_iter().find(|required| self.attribute(required).is_none()) {
            Some(attribute) => Err(Malformed::AttributeMissing { attribute }),
            None => Ok(()),
        }
    }
}
