//! What a request may say, as sentences.

use waybill_domain::export::{ExportRequest, FieldError};

fn problems(body: &str) -> Vec<String> {
    let errors: Vec<FieldError> = ExportRequest::parse(body.as_bytes()).expect_err("the request is wrong");
    errors.into_iter().map(|error| error.field).collect()
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
    for target in ["a@b\\r\\nBcc: c@d", "a b@c", "a@b@c", "@b", "a@", "<a@b>"] {
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
        assert_eq!(problems(&body), ["notify[0]"], "{target}");
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
