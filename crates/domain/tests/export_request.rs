//! What a request may say, as sentences.

use waybill_domain::export::{ExportRequest, FieldError};

fn problems(body: &str) -> Vec<String> {
    let errors: Vec<FieldError> = ExportRequest::parse(body.as_bytes()).expect_err("the request is wrong");
    errors.into_iter().map(|error| error.field).collect()
}

fn unfit(body: &str) -> Vec<String> {
    let request = ExportRequest::parse(body.as_bytes()).expect("its shape is right");
    request.unfit().into_iter().map(|error| error.field).collect()
}

#[test]
fn the_least_request_names_a_data_set() {
    let request = ExportRequest::parse(br#"{"dataset": "orders"}"#).expect("a good request");
    assert_eq!((request.columns, request.notify.len()), (None, 0));
}

#[test]
fn everything_that_is_wrong_is_named_at_once() {
    let body = r#"{"dataset": "No!", "format": "xls", "columns": [], "name": "", "labels": [], "notify": 3, "when": 1}"#;
    assert_eq!(problems(body), ["when", "dataset", "format", "columns", "name", "labels", "notify"]);
}

#[test]
fn what_is_not_an_object_is_refused_whole() {
    for body in ["", "[]", "nul", "{\"dataset\": \"a\"} x"] {
        assert_eq!(problems(body), [""], "{body:?}");
    }
}

#[test]
fn a_column_is_named_once() {
    assert_eq!(problems(r#"{"dataset": "orders", "columns": ["a", "b", "a"]}"#), ["columns[2]"]);
}

#[test]
fn a_target_that_could_break_out_of_a_mail_header_is_refused() {
    for target in ["a b@c", "a@b@c", "@b", "a@", "<a@b>"] {
        let body =
            format!(r#"{{"dataset": "orders", "notify": [{{"channel": "email", "target": "{target}"}}]}}"#);
        assert_eq!(unfit(&body), ["notify[0]"], "{target}");
    }
}

#[test]
fn a_target_is_one_line() {
    for target in [r"a@b\r\nBcc: c@d", "", &"a".repeat(2_001)] {
        let body =
            format!(r#"{{"dataset": "orders", "notify": [{{"channel": "email", "target": "{target}"}}]}}"#);
        assert_eq!(problems(&body), ["notify[0]"], "{target}");
    }
}

#[test]
fn a_webhook_is_http_without_credentials() {
    for target in ["ftp://a/b", "http://u:p@a/", "file:///etc/passwd", "/x", "http://a/#f", "javascript:1"] {
        let body =
            format!(r#"{{"dataset": "orders", "notify": [{{"channel": "webhook", "target": "{target}"}}]}}"#);
        assert_eq!(unfit(&body), ["notify[0]"], "{target}");
    }
}

#[test]
fn equal_requests_have_one_canonical_text_however_they_were_written() {
    let one = ExportRequest::parse(br#"{"dataset":"orders","labels":{"b":"2","a":"1"},"format":"csv"}"#);
    let two = ExportRequest::parse(br#"{ "labels": {"a":"1", "b":"2"}, "name": null, "dataset": "orders" }"#);
    assert_eq!(one.expect("good").canonical(), two.expect("good").canonical());
}

#[test]
fn another_wish_has_another_canonical_text() {
    let one = ExportRequest::parse(br#"{"dataset":"orders","columns":["a","b"]}"#).expect("good");
    let two = ExportRequest::parse(br#"{"dataset":"orders","columns":["b","a"]}"#).expect("good");
    assert_ne!(one.canonical(), two.canonical());
}

#[test]
fn a_request_of_the_first_fields_has_the_canonical_text_that_it_always_had() {
    let body =
        br#"{"notify": [{"channel": "email", "target": "a@example.org"}], "labels": {"b": "2", "a": "1"},
        "name": "Q3", "columns": ["id"], "format": "csv", "dataset": "orders"}"#;
    let request = ExportRequest::parse(body).expect("good");
    let text = r#"{"dataset":"orders","format":"csv","columns":["id"],"name":"Q3","labels":{"a":"1","b":"2"},"notify":[{"channel":"email","target":"a@example.org"}]}"#;
    assert_eq!(String::from_utf8(request.canonical()).expect("JSON"), text);
    let least = ExportRequest::parse(br#"{"dataset": "orders"}"#).expect("good");
    let text = r#"{"dataset":"orders","format":"csv","columns":null,"name":null,"labels":{},"notify":[]}"#;
    assert_eq!(String::from_utf8(least.canonical()).expect("JSON"), text);
}

#[test]
fn everything_that_can_be_asked_for_is_in_the_canonical_text() {
    let body = br#"{"dataset": "orders", "format": "ndjson", "options": {"wide_numbers": "text"}, "compression": "zstd",
        "filters": {"id": {"range": {"gte": 5, "lt": "9"}}, "paid": {"eq": true}, "note": {"is_null": false}},
        "order": "newest", "expiry": "48h"}"#;
    let request = ExportRequest::parse(body).expect("good");
    let text = r#"{"dataset":"orders","format":"ndjson","options":{"wide_numbers":"text"},"compression":"zstd","columns":null,"filters":{"id":{"range":{"gte":"5","lt":"9"}},"note":{"is_null":false},"paid":{"eq":"true"}},"order":"newest","name":null,"labels":{},"expiry":"2d","notify":[]}"#;
    assert_eq!(String::from_utf8(request.canonical()).expect("JSON"), text);
}

#[test]
fn an_option_of_another_format_is_refused_with_those_that_there_are() {
    let body = br#"{"dataset": "orders", "format": "parquet", "options": {"delimiter": ";"}}"#;
    let errors = ExportRequest::parse(body).expect("its shape is right").unfit();
    assert_eq!(errors[0].field, "options.delimiter");
    assert!(errors[0].problem.contains("parquet, which has none"), "{errors:?}");
    assert_eq!(
        problems(r#"{"dataset": "a", "options": {"delimiter": ":", "header": 1, "footer": 1}}"#),
        ["options.delimiter", "options.header", "options.footer"]
    );
}

#[test]
fn a_number_is_whole_however_it_is_written_and_nothing_that_was_rounded_is_one() {
    let body =
        br#"{"dataset": "orders", "filters": {"id": {"in": [7.0, -0.0, 1e3, 18446744073709551615, -9007199254740991.0]}}}"#;
    let request = ExportRequest::parse(body).expect("good");
    let values = request.filters["id"].one_of.clone().expect("values");
    assert_eq!(values, ["7", "0", "1000", "18446744073709551615", "-9007199254740991"]);
    for rounded in ["0.5", "9007199254740992.0", "9007199254740993.0", "1e17", "18446744073709551616"] {
        let body = format!(r#"{{"dataset": "orders", "filters": {{"id": {{"eq": {rounded}}}}}}}"#);
        assert_eq!(problems(&body), ["filters.id.eq"], "{rounded}");
    }
}

#[test]
fn every_wrong_condition_is_named_at_once() {
    let body = r#"{"dataset": "orders", "compression": "rar", "order": "No!", "expiry": "soon", "filters": {
        "a": {"eq": 0.1}, "b": {"like": "x"}, "c": {"in": []}, "d": {"range": {"gte": 1, "gt": 2}}, "e": {}, "f": {"eq": null}}}"#;
    assert_eq!(
        problems(body),
        [
            "compression",
            "filters.a.eq",
            "filters.b.like",
            "filters.c.in",
            "filters.d.range",
            "filters.e",
            "filters.f.eq",
            "order",
            "expiry"
        ]
    );
}

#[test]
fn an_expiry_lies_within_its_bounds() {
    use jiff::{SignedDuration, Timestamp};
    use waybill_domain::export::Expiry;
    use waybill_domain::retention::{Kept, Retention};
    let now = Timestamp::UNIX_EPOCH;
    let week = SignedDuration::from_hours(7 * 24);
    let kept = Expiry::After(week).kept(now).expect("a week");
    assert_eq!(kept.retention().map(Retention::duration), Some(week));
    assert_eq!(Expiry::At(now + week).kept(now), Ok(Kept::Until(now + week)));
    for wrong in
        [Expiry::After(SignedDuration::from_secs(1)), Expiry::At(now), Expiry::After(SignedDuration::MAX)]
    {
        assert_eq!(wrong.kept(now).expect_err("out of bounds").field, "expiry");
    }
}
