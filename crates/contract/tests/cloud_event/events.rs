//! Events and records for the tests, plain ones and arbitrary ones.

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use waybill_contract::{Attribute, AttributeValue, Carried, CloudEvent, Data, Malformed};

pub(crate) const STRUCTURED: &str = "application/cloudevents+json";

/// Headers that all have texts.
pub(crate) type Texts<'a> = Vec<(&'a str, &'a str)>;

/// A sound record's headers in binary mode.
pub(crate) fn sound() -> Texts<'static> {
    vec![
        ("content-type", "application/json"),
        ("ce_specversion", "1.0"),
        ("ce_id", "1234-1234-1234"),
        ("ce_type", "com.example.someevent"),
        ("ce_source", "/mycontext/subcontext"),
        ("ce_time", "2018-04-05T03:56:24Z"),
    ]
}

pub(crate) fn read(headers: &[(&str, &str)], payload: Option<&[u8]>) -> Result<CloudEvent, Malformed> {
    CloudEvent::read(headers.iter().map(|(name, text)| (*name, Some(text.as_bytes()))), payload)
}

pub(crate) fn read_structured(json: &str) -> Result<CloudEvent, Malformed> {
    read(&[("content-type", STRUCTURED)], Some(json.as_bytes()))
}

pub(crate) fn read_back(carried: &Carried) -> Result<CloudEvent, Malformed> {
    let headers = carried.headers.iter().map(|(name, value)| (name.as_str(), value.as_deref()));
    CloudEvent::read(headers, carried.payload.as_deref())
}

/// The texts of the attributes, in their order.
pub(crate) fn texts(event: &CloudEvent) -> Vec<(&str, String)> {
    event
        .attributes()
        .iter()
        .map(|attribute| (attribute.name.as_str(), attribute.value.canonical()))
        .collect()
}

prop_compose! {
    /// A text without what CloudEvents excludes.
    fn text(least: usize)(text in vec("[ -~\u{a0}-\u{d7ff}\u{10000}-\u{1fffd}]", least..12)) -> String { text.concat() }
}

fn any_value() -> impl Strategy<Value = AttributeValue> {
    prop_oneof![
        text(0).prop_map(AttributeValue::Text),
        any::<i32>().prop_map(AttributeValue::Integer),
        any::<bool>().prop_map(AttributeValue::Boolean),
    ]
}

/// JSON as anybody might have written it: members in any order, spaces inside, digits that no float keeps.
fn any_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("1.10".to_owned()),
        Just("123456789012345678901234567890".to_owned()),
        Just("1E-400".to_owned()),
        Just("\"\\u0041\\/\"".to_owned()),
        text(0).prop_map(|text| serde_json::Value::from(text).to_string()),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(" , "))),
            vec(inner, 0..4).prop_map(|items| {
                let members = items.iter().enumerate().map(|(at, item)| format!("\"m{}\": {item}", at % 2));
                format!("{{ {} }}", members.collect::<Vec<_>>().join(","))
            }),
        ]
    })
}

prop_compose! {
    /// Any event, its attributes in any order, with data of the kind that its content type asks for.
    pub(crate) fn any_event()(
        id in text(1),
        source in "[a-z]{1,8}:[a-zA-Z0-9/%._-]{0,32}",
        event_type in text(1),
        subject in option::of(text(1)),
        time in option::of("20[0-9]{2}-0[1-9]-1[0-9]T2[0-3]:[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,12})?(Z|z|[+-]1[0-9]:[0-5][0-9])"),
        schema in option::of("[a-z]{1,8}:[a-zA-Z0-9/%._-]{0,32}"),
        extensions in btree_map("x[a-z0-9]{1,8}", any_value(), 0..4),
        (kind, bytes, json, plain) in (0..5_u8, vec(any::<u8>(), 0..40), any_json(), text(0)),
        turn in any::<usize>(),
    ) -> CloudEvent {
        let (content_type, data) = match kind {
            0 => (None, None),
            1 => (Some("application/vnd.confluent.avro"), Some(Data::Bytes(bytes))),
            2 => (Some("Application/Thing+JSON; q=1"), Some(Data::Json(json))),
            3 => (Some("text/plain; charset=UTF-8"), Some(Data::Text(plain))),
            _ => (None, Some(Data::Bytes(bytes))),
        };
        let texts = [
            ("specversion", Some("1.0".to_owned())),
            ("id", Some(id)),
            ("source", Some(source)),
            ("type", Some(event_type)),
            ("subject", subject),
            ("time", time),
            ("dataschema", schema),
            ("datacontenttype", content_type.map(str::to_owned)),
        ];
        let core = texts.into_iter().filter_map(|(name, text)| Some(Attribute::text(name, text?)));
        let more = extensions.into_iter().map(|(name, value)| Attribute { name, value });
        let mut attributes: Vec<Attribute> = core.chain(more).collect();
        let turn = turn % attributes.len();
        attributes.rotate_left(turn);
        CloudEvent::new(attributes, data).unwrap()
    }
}
