//! Binary mode: the attributes as headers, the data as the value (Kafka Protocol Binding 1.0.2, section 3.2).

use super::attribute::Attribute;
use super::{Carried, CloudEvent, DATA_CONTENT_TYPE, Data, HEADER_CONTENT_TYPE};
use crate::error::Malformed;

const ATTRIBUTE_PREFIX: &str = "ce_";

/// The attributes in a record's headers, whatever its mode. Headers of others are passed over.
pub(super) fn attributes<'a>(
    headers: impl IntoIterator<Item = (&'a str, Option<&'a [u8]>)>,
) -> Result<Vec<Attribute>, Malformed> {
    let mut attributes: Vec<Attribute> = Vec::new();
    for (header, value) in headers {
        let Some(name) = name(header)? else { continue };
        let attribute = || name.to_owned();
        let bytes = value.ok_or_else(|| Malformed::AttributeNull { attribute: attribute() })?;
        let text = std::str::from_utf8(bytes)
            .map_err(|source| Malformed::AttributeNotUtf8 { attribute: attribute(), source })?;
        if attributes.iter().any(|other| other.name == name) {
            return Err(Malformed::AttributeDuplicated { attribute: attribute() });
        }
        attributes.push(Attribute::text(name, text));
    }
    Ok(attributes)
}

/// The attribute that a header carries. `None`: none.
fn name(header: &str) -> Result<Option<&str>, Malformed> {
    if header == HEADER_CONTENT_TYPE {
        return Ok(Some(DATA_CONTENT_TYPE));
    }
    match header.strip_prefix(ATTRIBUTE_PREFIX) {
        // Section 3.2.1 maps it to `content-type` and to nothing else; which of the two counts would be a guess.
        Some(DATA_CONTENT_TYPE) => Err(Malformed::ContentTypeMisplaced),
        name => Ok(name),
    }
}

pub(super) fn write(event: &CloudEvent) -> Carried {
    let mut headers = Vec::with_capacity(event.attributes().len() + 1);
    for attribute in event.attributes() {
        let header = match attribute.name.as_str() {
            DATA_CONTENT_TYPE => HEADER_CONTENT_TYPE.to_owned(),
            name => format!("{ATTRIBUTE_PREFIX}{name}"),
        };
        headers.push((header, Some(attribute.value.canonical().into_bytes())));
    }
    // What JSON implies has to be said elsewhere (JSON Event Format, section 3.1.2).
    if let (None, Some(Data::Json(_))) = (event.data_content_type(), event.data()) {
        headers.push((HEADER_CONTENT_TYPE.to_owned(), Some(b"application/json".to_vec())));
    }
    Carried { headers, payload: event.data().map(|data| data.as_bytes().to_vec()) }
}
