//! What a request for a data set comes to.

use proptest::prelude::*;
use waybill_datasets::{PinnedColumn, Reading, Revision, kind_of_spec, parse, resolve};
use waybill_domain::export::{Compression, ExportRequest, Format, Spec};
use waybill_domain::ids::TenantId;
use waybill_formats::Plan;

const FILE: &str = r#"
name = "orders"
source = "shop"
table = "shop.orders"
tenant_column = "tenant"
columns = ["id", "amount", { name = "wide", as = "text" }, "place"]
[filters]
id = ["eq", "in", "range"]
status = ["eq"]
note = ["prefix", "is_null"]
[orders]
newest = ["id desc", "amount"]
[defaults]
order = "newest"
[defaults.csv]
delimiter = ";"
compression = "gzip"
"#;

fn pinned(name: &str, oid: u32, type_name: &str, typmod: i32) -> PinnedColumn {
    PinnedColumn {
        name: name.to_owned(),
        type_name: type_name.to_owned(),
        cast_name: type_name.split('(').next().unwrap_or_default().to_owned(),
        oid,
        kind: 'b',
        typmod,
        element: None,
        labels: Vec::new(),
    }
}

fn revision() -> Revision {
    let columns = vec![
        pinned("id", 20, "bigint", -1),
        pinned("amount", 1700, "numeric(10,2)", (10 << 16) + 2 + 4),
        pinned("wide", 1700, "numeric", -1),
        pinned("place", 1700, "numeric", -1),
        pinned("tenant", 25, "text", -1),
        PinnedColumn {
            kind: 'e',
            labels: vec!["paid".into(), "open".into()],
            ..pinned("status", 20_000, "shop.status", -1)
        },
        pinned("note", 25, "text", -1),
    ];
    Revision { revision: 7, declaration: parse(FILE).expect("a good file"), columns }
}

fn asked(body: &str) -> Result<Spec, Vec<String>> {
    let request = ExportRequest::parse(body.as_bytes()).expect("a request");
    resolve(&request, &revision()).map_err(|refusal| {
        refusal.errors().iter().map(|error| format!("{} {}", error.field, error.problem)).collect()
    })
}

#[test]
fn what_a_request_leaves_open_the_data_set_says() {
    let spec = asked(r#"{"dataset": "orders"}"#).expect("good");
    assert_eq!((spec.dataset_revision, spec.format, spec.compression), (7, Format::Csv, Compression::Gzip));
    assert_eq!((spec.options.delimiter, spec.order.as_deref()), (Some(';'), Some("newest")));
    assert_eq!(spec.columns, ["id", "amount", "wide", "place"]);
    let other = r#"{"dataset": "orders", "compression": "none", "options": {"delimiter": ","}, "columns": ["amount"]}"#;
    let spec = asked(other).expect("good");
    assert_eq!((spec.compression, spec.options.delimiter), (Compression::None, Some(',')));
    assert_eq!(spec.columns, ["amount"]);
}

#[test]
fn a_column_that_the_format_cannot_hold_is_named_before_there_is_an_export() {
    let problems = asked(r#"{"dataset": "orders", "format": "parquet"}"#).expect_err("place has no scale");
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].starts_with("columns[3] is \"place\": "), "{problems:?}");
    assert!(
        asked(r#"{"dataset": "orders", "format": "parquet", "columns": ["id", "amount", "wide"]}"#).is_ok()
    );
}

#[test]
fn everything_that_the_data_set_does_not_allow_is_named_at_once() {
    let body = r#"{"dataset": "orders", "columns": ["id", "secret"], "order": "oldest", "filters": {
        "amount": {"eq": 1}, "id": {"in": [1, "x"], "is_null": true}, "status": {"eq": "lost"}}}"#;
    let problems = asked(body).expect_err("all of it is wrong");
    let fields: Vec<&str> = problems.iter().filter_map(|problem| problem.split(' ').next()).collect();
    let wanted = [
        "columns[1]",
        "order",
        "filters.amount",
        "filters.id.is_null",
        "filters.id.in[1]",
        "filters.status.eq",
    ];
    assert_eq!(fields, wanted, "{problems:#?}");
}

fn statement(body: &str) -> (String, Reading) {
    let (spec, revision) = (asked(body).expect("good"), revision());
    let reading = Reading::new(&revision, &spec, &tenant(), &revision.columns);
    let kind = kind_of_spec(&spec).expect("a kind");
    let plan = Plan::new(&revision.planned(&spec.columns), kind).expect("a plan");
    (reading.copy(&plan), reading)
}

fn tenant() -> TenantId {
    TenantId::from_uuid(uuid::Uuid::nil())
}

#[test]
fn every_value_is_read_from_a_setting_and_cast_without_a_modifier() {
    let body = r#"{"dataset": "orders", "columns": ["id"], "options": {"delimiter": ","}, "filters": {
        "id": {"range": {"gte": 5, "lt": 9}, "in": [1, 2]}, "note": {"prefix": "a%", "is_null": false}}}"#;
    let (copy, reading) = statement(body);
    assert_eq!(
        copy,
        "COPY (SELECT waybill_rows.\"id\" FROM \"shop\".\"orders\" AS waybill_rows \
         WHERE waybill_rows.\"tenant\" = pg_catalog.current_setting('waybill.tenant_id')::text \
         AND waybill_rows.\"id\" >= pg_catalog.current_setting('waybill.value_0')::bigint \
         AND waybill_rows.\"id\" < pg_catalog.current_setting('waybill.value_1')::bigint \
         AND waybill_rows.\"id\" = ANY (pg_catalog.current_setting('waybill.value_2')::bigint[]) \
         AND pg_catalog.starts_with(waybill_rows.\"note\"::pg_catalog.text, pg_catalog.current_setting('waybill.value_3')::pg_catalog.text) \
         AND waybill_rows.\"note\" IS NOT NULL \
         ORDER BY waybill_rows.\"id\" DESC, waybill_rows.\"amount\") TO STDOUT (FORMAT binary)"
    );
    let values: Vec<String> = reading.settings.iter().map(|setting| setting.value.to_string()).collect();
    assert_eq!(values, [&format!("\"{}\"", tenant()), "\"5\"", "\"9\"", "[\"1\",\"2\"]", "\"a%\""]);
}

#[test]
fn a_tenant_or_filter_column_that_is_gone_lets_no_row_through() {
    let (spec, revision) =
        (asked(r#"{"dataset": "orders", "filters": {"id": {"eq": 1}}}"#).expect("good"), revision());
    let reading = Reading::new(&revision, &spec, &tenant(), &[]);
    assert!(reading.explain().contains(" WHERE false AND false "), "{}", reading.explain());
}

proptest! {
    #[test]
    fn no_value_is_ever_in_a_statement(value in "\\PC{1,40}") {
        let marked = format!("⟨{value}⟩");
        let body = serde_json::json!({"dataset": "orders", "filters": {"note": {"prefix": marked}}}).to_string();
        let (copy, reading) = statement(&body);
        prop_assert!(!copy.contains('⟨') && !reading.explain().contains('⟨'));
        prop_assert_eq!(&reading.settings[1].value, &serde_json::json!(marked));
    }
}
