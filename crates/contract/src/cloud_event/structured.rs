//! Structured mode: the whole event as one JSON object in the value (JSON Event Format 1.0.2; Kafka Protocol Binding,
//! section 3.3).
//!
//! The data stays the text that it was, so that neither a number's digits nor a member's place change on the way.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::attribute::{Attribute, AttributeValue};
use super::media_type::MediaType;
use super::{Carried, CloudEvent, DATA_CONTENT_TYPE, Data, HEADER_CONTENT_TYPE};
use crate::error::Malformed;

const CONTENT_TYPE: &str = "application/cloudevents+json";
const DATA: &str = "data";
const DATA_BASE64: &str = "data_base64";

/// The event in a value. `headers` are the attributes that the record's headers carry beside it.
pub(super) fn read(headers: &[Attribute], payload: Option<&[u8]>) -> Result<CloudEvent, Malformed> {
    let Members(members) = serde_json::from_slice(payload.ok_or(Malformed::PayloadNull)?)
        .map_err(|source| Malformed::StructuredNotJson { source })?;
    let (mut attributes, mut plain, mut base64) = (Vec::with_capacity(members.len()), None, None);
    for (name, value) in members {
        match name.as_str() {
            DATA if plain.is_some() => return Err(Malformed::AttributeDuplicated { attribute: name }),
            DATA => plain = Some(value.get().to_owned()),
            DATA_BASE64 if base64.is_some() => {
                return Err(Malformed::AttributeDuplicated { attribute: name });
            }
            DATA_BASE64 => base64 = Some(decoded(value)?),
            _ => attributes.extend(attribute(name, value)?),
        }
    }
    let event = CloudEvent::new(attributes, None)?;
    agree(headers, &event)?;
    let data = match (plain, base64.flatten()) {
        (Some(_), Some(_)) => return Err(Malformed::DataTwice),
        (Some(json), None) => Some(data(json, event.data_content_type())?),
        (None, bytes) => bytes.map(Data::Bytes),
    };
    CloudEvent::new(event.attributes, data)
}

/// A member that is an attribute. `null` is the same as its absence (section 2.2).
fn attribute(name: String, value: &RawValue) -> Result<Option<Attribute>, Malformed> {
    let of_another_type = || Malformed::AttributeType { attribute: name.clone() };
    let text = value.get();
    let value = match text.as_bytes().first() {
        Some(b'n') => return Ok(None),
        Some(b't' | b'f') => AttributeValue::Boolean(text == "true"),
        Some(b'"') => AttributeValue::Text(unquoted(text)?),
        // Digits and a minus sign: neither a fraction nor an exponent.
        Some(_) => AttributeValue::Integer(text.parse().map_err(|_not_whole| of_another_type())?),
        None => return Err(of_another_type()),
    };
    Ok(Some(Attribute { name, value }))
}

fn unquoted(text: &str) -> Result<String, Malformed> {
    serde_json::from_str(text).map_err(|source| Malformed::StructuredNotJson { source })
}

fn decoded(value: &RawValue) -> Result<Option<Vec<u8>>, Malformed> {
    match value.get().as_bytes().first() {
        Some(b'n') => Ok(None),
        Some(b'"') => {
            let text = unquoted(value.get())?;
            let bytes = STANDARD.decode(text).map_err(|source| Malformed::DataBase64 { source })?;
            Ok(Some(bytes))
        }
        _ => Err(Malformed::AttributeType { attribute: DATA_BASE64.to_owned() }),
    }
}

/// What a member `data` holds (section 3.1.2).
fn data(json: String, content_type: Option<&str>) -> Result<Data, Malformed> {
    let Some(media_type) = content_type.and_then(MediaType::parse).filter(|media_type| !media_type.is_json())
    else {
        return Ok(Data::Json(json));
    };
    if !json.starts_with('"') {
        return Err(Malformed::DataUnfit { detail: "is no text, and its content type is not JSON" });
    }
    // It would have to be encoded in that charset when it leaves JSON.
    if !media_type.is_utf8() {
        return Err(Malformed::DataUnfit {
            detail: "is a text, and its content type names a charset other than UTF-8",
        });
    }
    Ok(Data::Text(unquoted(&json)?))
}

/// Headers may say again what the value says (section 3.3), and nothing else: whoever reads only them would otherwise see
/// another identity.
fn agree(headers: &[Attribute], event: &CloudEvent) -> Result<(), Malformed> {
    let contradicting = headers.iter().filter(|header| header.name != DATA_CONTENT_TYPE).find(|header| {
        let said = event.attribute(&header.name).map(AttributeValue::canonical);
        said.as_deref() != header.value.as_text()
    });
    match contradicting {
        Some(header) => Err(Malformed::AttributeContradicted { attribute: header.name.clone() }),
        None => Ok(()),
    }
}

pub(super) fn write(event: &CloudEvent) -> Carried {
    let mut json = String::from("{");
    for Attribute { name, value } in event.attributes() {
        let value = match value {
            AttributeValue::Text(text) => quoted(text),
            AttributeValue::Integer(_) | AttributeValue::Boolean(_) => value.canonical(),
        };
        push(&mut json, name, &value);
    }
    match event.data() {
        Some(Data::Json(text)) => push(&mut json, DATA, text),
        Some(Data::Text(text)) => push(&mut json, DATA, &quoted(text)),
        Some(Data::Bytes(bytes)) => match as_json(event.data_content_type(), bytes) {
            Some(text) => push(&mut json, DATA, text),
            None => push(&mut json, DATA_BASE64, &quoted(&STANDARD.encode(bytes))),
        },
        None => {}
    }
    json.push('}');
    let headers = vec![(HEADER_CONTENT_TYPE.to_owned(), Some(CONTENT_TYPE.as_bytes().to_vec()))];
    Carried { headers, payload: Some(json.into_bytes()) }
}

/// The bytes as a JSON value, where that is what they are to the last one.
fn as_json<'a>(content_type: Option<&str>, bytes: &'a [u8]) -> Option<&'a str> {
    content_type.and_then(MediaType::parse).filter(MediaType::is_json)?;
    let value: &RawValue = serde_json::from_slice(bytes).ok()?;
    (value.get().len() == bytes.len()).then(|| value.get())
}

fn push(json: &mut String, name: &str, value: &str) {
    if json.len() > 1 {
        json.push(',');
    }
    json.push_str(&quoted(name));
    json.push(':');
    json.push_str(value);
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The members of an object in their order, copies included.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}
