//! The scenarios of the CloudEvents project's own conformance suite: its features of the Kafka Protocol Binding, and its
//! cases of the JSON format, as data of our own. What a case is about is its name there.

use waybill_contract::{CloudEvent, Data};

use crate::events::{read, read_structured, sound, texts};

const MESSAGE: &str = r#"{"message": "Hello World!"}"#;

/// What both of Kafka's scenarios expect, in any order.
fn is_the_event(event: &CloudEvent) {
    let mut said = texts(event);
    said.sort_unstable();
    let said: Vec<(&str, &str)> = said.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let wanted = [
        ("datacontenttype", "application/json"),
        ("id", "1234-1234-1234"),
        ("source", "/mycontext/subcontext"),
        ("specversion", "1.0"),
        ("time", "2018-04-05T03:56:24Z"),
        ("type", "com.example.someevent"),
    ];
    assert_eq!(said, wanted);
    let data: serde_json::Value = serde_json::from_slice(event.data().unwrap().as_bytes()).unwrap();
    assert_eq!(data, serde_json::json!({ "message": "Hello World!" }));
}

#[test]
fn kafka_binary_content_mode() {
    is_the_event(&read(&sound(), Some(MESSAGE.as_bytes())).unwrap());
}

#[test]
fn kafka_structured_content_mode() {
    let json = r#"{
        "specversion": "1.0",
        "type": "com.example.someevent",
        "time": "2018-04-05T03:56:24Z",
        "id": "1234-1234-1234",
        "source": "/mycontext/subcontext",
        "datacontenttype": "application/json",
        "data": {"message": "Hello World!"}
    }"#;
    for content_type in ["application/cloudevents+json", "application/cloudevents+json; charset=utf-8"] {
        is_the_event(&read(&[("content-type", content_type)], Some(json.as_bytes())).unwrap());
    }
}

/// A minimal event with some more members, or with some in another form. `null` takes a member away.
fn with(more: &str) -> String {
    let mut event = serde_json::json!({
        "specversion": "1.0", "id": "minimal", "type": "io.cloudevents.test", "source": "https://cloudevents.io",
    });
    let more: serde_json::Map<String, serde_json::Value> = serde_json::from_str(more).unwrap();
    event.as_object_mut().unwrap().extend(more);
    event.to_string()
}

#[test]
fn json_valid_events() {
    let cases = [
        ("validMinimal", "{}"),
        (
            "validMinimalWithNullForOptional",
            r#"{"datacontenttype": null, "dataschema": null, "subject": null, "time": null}"#,
        ),
        (
            "validAllCoreAttributes",
            r#"{"datacontenttype": "text/plain", "dataschema": "https://cloudevents.io/dataschema",
                "subject": "tests", "time": "2018-04-05T17:31:00Z"}"#,
        ),
        ("validMinimalWithTimeUtc", r#"{"time": "2018-04-05T17:31:00Z"}"#),
        ("validMinimalWithTimeToNanosecondsUtc", r#"{"time": "2018-04-05T17:31:00.000000000Z"}"#),
        ("validMinimalWithTimeUsingPositiveOffset", r#"{"time": "2018-04-05T18:31:00+01:00"}"#),
        ("validMinimalWithTimeUsingNegativeOffset", r#"{"time": "2018-04-05T16:31:00-01:00"}"#),
        ("validRelativeSource", r##"{"source": "#fragment"}"##),
        ("validSimpleTextData", r#"{"datacontenttype": "text/plain", "data": "Simple text"}"#),
        (
            "validAllExtensionTypes",
            r#"{"extinteger": 10, "extboolean": true, "extstring": "text", "exturi": "https://cloudevents.io",
                "exturiref": "//authority/path", "exttimestamp": "2023-03-31T15:12:00Z", "extbinary": "TWE="}"#,
        ),
    ];
    for (case, more) in cases {
        let event = read_structured(&with(more)).unwrap_or_else(|error| panic!("{case}: {error}"));
        // Every member that is not null is there, with its own text.
        let members: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&with(more)).unwrap();
        for (name, value) in members.iter().filter(|(name, value)| *name != "data" && !value.is_null()) {
            let wanted = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            assert_eq!(event.attribute(name).unwrap().canonical(), wanted, "{case}: {name}");
        }
        if let Some(time) = event.time() {
            assert_eq!(time.instant().to_string(), "2018-04-05T17:31:00Z", "{case}");
        }
    }
    let text = read_structured(&with(cases[8].1)).unwrap();
    assert_eq!(text.data(), Some(&Data::Text("Simple text".to_owned())));
}

#[test]
fn json_invalid_events() {
    let cases = [
        ("invalidNoSpecVersion", r#"{"specversion": null}"#, "attribute-missing"),
        ("invalidNoId", r#"{"id": null}"#, "attribute-missing"),
        ("invalidNoType", r#"{"type": null}"#, "attribute-missing"),
        ("invalidNoSource", r#"{"source": null}"#, "attribute-missing"),
        ("invalidTimeGarbage", r#"{"time": "lunchtime"}"#, "time-not-rfc3339"),
        ("invalidTimeToMinute", r#"{"time": "2018-04-05T18:31Z"}"#, "time-not-rfc3339"),
        ("invalidTimeOffsetX", r#"{"time": "2018-04-05T18:31:00X"}"#, "time-not-rfc3339"),
        ("invalidTimeOffsetOutOfRange", r#"{"time": "2018-04-05T18:31:00+25:00"}"#, "time-not-rfc3339"),
        ("invalidTimeOffsetNonInteger", r#"{"time": "2018-04-05T18:31:00+xx:00"}"#, "time-not-rfc3339"),
        ("invalidTimeOffsetHourOnly", r#"{"time": "2018-04-05T18:31:00+05"}"#, "time-not-rfc3339"),
        ("invalidEmptyId", r#"{"id": ""}"#, "attribute-empty"),
        ("invalidEmptyType", r#"{"type": ""}"#, "attribute-empty"),
        ("invalidEmptySource", r#"{"source": ""}"#, "attribute-empty"),
        ("invalidEmptySpecVersion", r#"{"specversion": ""}"#, "attribute-empty"),
        ("invalidUnknownSpecVersion", r#"{"specversion": "0.9"}"#, "specversion-unsupported"),
        ("invalidNonRfc2046DataContentType", r#"{"datacontenttype": "xyz"}"#, "content-type-unsupported"),
        ("invalidEmptyDataContentType", r#"{"datacontenttype": ""}"#, "attribute-empty"),
        ("invalidEmptyDataSchema", r#"{"dataschema": ""}"#, "attribute-empty"),
        ("invalidEmptySubject", r#"{"subject": ""}"#, "attribute-empty"),
        ("invalidNumericId", r#"{"id": 25}"#, "attribute-type-mismatch"),
        ("invalidObjectId", r#"{"id": {"xyz": "abc"}}"#, "attribute-type-mismatch"),
        ("invalidCapitalizedExtension", r#"{"MyExtension": "bad"}"#, "attribute-name-invalid"),
        ("invalidPunctuatedExtension", r#"{"my.extension": "bad"}"#, "attribute-name-invalid"),
        // Its name is invalid as well; here only its value is.
        ("invalidNonIntegerExtensionValue", r#"{"myextension": 1.5}"#, "attribute-type-mismatch"),
        (
            "invalidBothDataAndDataBase64",
            r#"{"data": "text", "data_base64": "eyAieHl6IjogMTIzIH0="}"#,
            "data-twice",
        ),
    ];
    for (case, more, reason) in cases {
        let error = read_structured(&with(more)).expect_err(case);
        assert_eq!(error.reason(), reason, "{case}: {error}");
    }
}
