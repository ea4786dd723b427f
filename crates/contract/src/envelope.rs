//! CloudEvents 1.0.2 in Kafka's binary mode: the attributes as headers.
//!
//! Extension attributes and headers of others are let pass unread; an attribute that is there must be a well-formed one
//! all the same, because a record with two sources or half a source has no identity to go by.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::error::{EncodeError, Malformed};

/// The `content-type` of every record: Avro data in Confluent's wire format. Compared without regard to case and
/// parameters (RFC 9110, section 8.3.1).
pub const CONTENT_TYPE: &str = "application/vnd.confluent.avro";

/// The `ce_specversion` of every record, which stands for CloudEvents 1.0.2 as for all of 1.0.
pub const SPEC_VERSION: &str = "1.0";

/// The longest required attribute, in bytes: `source` and `id` together must fit into one key of a Postgres index,
/// which takes 2,704.
pub const ATTRIBUTE_BYTES_MAX: usize = 1_024;

const ATTRIBUTE_PREFIX: &str = "ce_";
const HEADER_CONTENT_TYPE: &str = "content-type";
const HEADER_SPEC_VERSION: &str = "ce_specversion";
const HEADER_ID: &str = "ce_id";
const HEADER_SOURCE: &str = "ce_source";
const HEADER_TYPE: &str = "ce_type";
const HEADER_TIME: &str = "ce_time";
const HEADER_SUBJECT: &str = "ce_subject";
const HEADER_DATA_CONTENT_TYPE: &str = "ce_datacontenttype";

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

/// The attributes that the contract requires: CloudEvents' own, and `time` and `subject`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Envelope {
    pub(crate) key: EventKey,
    pub(crate) event_type: String,
    pub(crate) time: Timestamp,
    pub(crate) subject: String,
}

impl Envelope {
    /// The headers that say it. What no reader would accept is refused here, by reading it.
    pub(crate) fn write(&self) -> Result<Headers, EncodeError> {
        let time = self.time.to_string();
        let headers = [
            (HEADER_CONTENT_TYPE, CONTENT_TYPE),
            (HEADER_SPEC_VERSION, SPEC_VERSION),
            (HEADER_TYPE, &self.event_type),
            (HEADER_SOURCE, &self.key.source),
            (HEADER_ID, &self.key.id),
            (HEADER_TIME, &time),
            (HEADER_SUBJECT, &self.subject),
        ];
        Self::read(headers.map(|(name, value)| (name, Some(value.as_bytes()))))
            .map_err(EncodeError::Attribute)?;
        Ok(headers.map(|(name, value)| (name.to_owned(), Some(value.as_bytes().to_vec()))).to_vec())
    }

    /// The attributes in a record's headers.
    pub(crate) fn read<'a>(
        headers: impl IntoIterator<Item = (&'a str, Option<&'a [u8]>)>,
    ) -> Result<Self, Malformed> {
        let attributes = Attributes::collect(headers)?;
        let specversion = attributes.required(HEADER_SPEC_VERSION)?;
        if specversion != SPEC_VERSION {
            return Err(Malformed::SpecVersion { found: specversion.to_owned() });
        }
        attributes.check_content_type()?;
        let source = attributes.required(HEADER_SOURCE)?;
        if !is_uri_reference(source) {
            return Err(Malformed::Source);
        }
        let id = attributes.required(HEADER_ID)?;
        let time = attributes.required(HEADER_TIME)?;
        Ok(Self {
            key: EventKey { source: source.to_owned(), id: id.to_owned() },
            event_type: attributes.required(HEADER_TYPE)?.to_owned(),
            time: parse_rfc3339(time).ok_or(Malformed::Time)?,
            subject: attributes.required(HEADER_SUBJECT)?.to_owned(),
        })
    }
}

/// The headers that are attributes, each well-formed and there once.
struct Attributes<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Attributes<'a> {
    fn collect(headers: impl IntoIterator<Item = (&'a str, Option<&'a [u8]>)>) -> Result<Self, Malformed> {
        let mut attributes = BTreeMap::new();
        for (name, value) in headers {
            if name != HEADER_CONTENT_TYPE && !name.starts_with(ATTRIBUTE_PREFIX) {
                continue;
            }
            let header = || name.to_owned();
            let bytes = value.ok_or_else(|| Malformed::AttributeNull { header: header() })?;
            let text = std::str::from_utf8(bytes)
                .map_err(|source| Malformed::AttributeNotUtf8 { header: header(), source })?;
            // U+0000-1F and U+007F-9F: CloudEvents 1.0.2, "Type System", String.
            if text.chars().any(char::is_control) {
                return Err(Malformed::AttributeControlCharacter { header: header() });
            }
            if attributes.insert(name, text).is_some() {
                return Err(Malformed::AttributeDuplicated { header: header() });
            }
        }
        Ok(Self(attributes))
    }

    fn required(&self, header: &'static str) -> Result<&'a str, Malformed> {
        let value = self.0.get(header).copied().ok_or(Malformed::AttributeMissing { header })?;
        if value.is_empty() {
            return Err(Malformed::AttributeEmpty { header });
        }
        if value.len() > ATTRIBUTE_BYTES_MAX {
            return Err(Malformed::AttributeTooLong { header: header.to_owned(), bytes: value.len() });
        }
        Ok(value)
    }

    fn check_content_type(&self) -> Result<(), Malformed> {
        if self.0.contains_key(HEADER_DATA_CONTENT_TYPE) {
            return Err(Malformed::ContentTypeMisplaced);
        }
        let found = self.required(HEADER_CONTENT_TYPE)?;
        let media_type = found.split(';').next().unwrap_or_default().trim();
        if media_type.eq_ignore_ascii_case(CONTENT_TYPE) {
            Ok(())
        } else {
            Err(Malformed::ContentType { found: found.to_owned() })
        }
    }
}

/// Whether every character is one of RFC 3986's, section 2. The grammar above them is the producer's business: the
/// source is compared and never followed.
pub(crate) fn is_uri_reference(text: &str) -> bool {
    let legal = |b: u8| b.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&b);
    !text.is_empty() && text.bytes().all(legal)
}

/// RFC 3339's `date-time` and nothing more: jiff alone would also take ISO 8601's other forms.
fn parse_rfc3339(text: &str) -> Option<Timestamp> {
    let (date_time, rest) = text.split_at_checked("2006-01-02T15:04:05".len())?;
    let shape = |text: &str, shape: &str| {
        text.len() == shape.len()
            && text.bytes().zip(shape.bytes()).all(|(byte, wanted)| match wanted {
                b'0' => byte.is_ascii_digit(),
                _ => byte.eq_ignore_ascii_case(&wanted),
            })
    };
    let offset = match rest.strip_prefix('.') {
        Some(fraction) => {
            let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
            fraction.get(digits..).filter(|_| digits > 0)?
        }
        None => rest,
    };
    let sound = shape(date_time, "0000-00-00T00:00:00")
        && (shape(offset, "Z") || shape(offset, "+00:00") || shape(offset, "-00:00"));
    if sound { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rfc_3339_and_nothing_else() {
        let noon = "2026-03-01T12:00:00Z";
        for good in [noon, "2026-03-01t12:00:00z", "2026-03-01T12:00:00.000Z", "2026-03-01T20:00:00+08:00"] {
            assert_eq!(parse_rfc3339(good).map(|t| t.to_string()).as_deref(), Some(noon), "{good}");
        }
        for bad in [
            "2026-03-01",
            "2026-03-01T12:00:00",
            "2026-03-01T12:00Z",
            "2026-03-01 12:00:00Z",
            "2026-03-01T12:00:00.Z",
            "2026-03-01T12:00:00,5Z",
            "2026-03-01T12:00:00+0800",
            "2026-03-01T12:00:00Z[UTC]",
            "2026-02-30T12:00:00Z",
            "二〇二六年三月一日正午十二時",
        ] {
            assert_eq!(parse_rfc3339(bad), None, "{bad}");
        }
    }

    #[test]
    fn sources_are_uri_references() {
        for good in ["urn:waybill:exports", "https://example.com/exports?a=%20", "/exports", "exports"] {
            assert!(is_uri_reference(good), "{good}");
        }
        for bad in ["", "two words", "urn:出口", "urn:<a>", "a\"b"] {
            assert!(!is_uri_reference(bad), "{bad}");
        }
    }
}
