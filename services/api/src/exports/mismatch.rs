//! In what a request differs from the one that its intent stands for.

use serde_json::Value;

/// The names of the fields that differ: those that one of both says, and the other does not say alike.
pub(super) fn differences(request: &Value, accepted: Option<&Value>) -> Vec<String> {
    let fields = |request: Option<&Value>| request.and_then(Value::as_object).cloned().unwrap_or_default();
    let (now, before) = (fields(Some(request)), fields(accepted));
    let mut names: Vec<String> = now.keys().chain(before.keys()).cloned().collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| now.get(name) != before.get(name));
    names
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use waybill_domain::export::ExportRequest;

    use super::*;

    fn request(body: &Value) -> Value {
        json!(ExportRequest::parse(body.to_string().as_bytes()).unwrap())
    }

    #[test]
    fn every_field_that_differs_is_named() {
        let accepted = request(&json!({ "dataset": "orders", "name": "Q3", "labels": { "a": "1" } }));
        let other = request(&json!({
            "dataset": "refunds", "labels": { "a": "2" }, "columns": ["id"], "format": "parquet",
            "compression": "zstd", "filters": { "id": { "eq": 1 } }, "order": "newest", "expiry": "2d",
        }));
        let differ =
            ["columns", "compression", "dataset", "expiry", "filters", "format", "labels", "name", "order"];
        assert_eq!(differences(&other, Some(&accepted)), differ);
    }

    #[test]
    fn saying_what_would_be_so_anyway_is_another_request_than_leaving_it_open() {
        let accepted = request(&json!({ "dataset": "orders" }));
        let named = request(&json!({ "dataset": "orders", "columns": ["id", "total"] }));
        assert_eq!(differences(&named, Some(&accepted)), ["columns"]);
        let options = request(&json!({ "dataset": "orders", "options": { "header": true } }));
        assert_eq!(differences(&options, Some(&accepted)), ["options"]);
    }

    #[test]
    fn the_same_written_otherwise_differs_in_nothing() {
        let accepted = request(&json!({ "dataset": "orders", "filters": { "id": { "eq": 1 } } }));
        let again =
            request(&json!({ "filters": { "id": { "eq": "1" } }, "name": null, "dataset": "orders" }));
        assert_eq!(differences(&again, Some(&accepted)), Vec::<String>::new());
    }
}
