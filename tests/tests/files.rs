//! The files of exports, from the request to the download, compared with what Postgres says of the same rows.

use std::io::Read;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::{Value, json};
use waybill_testkit::{Answer, Caller, ORDERS, ROWS_OF_TENANT, System, id_of};

/// A system with an api and a worker, and a tenant with rows.
struct Scene {
    system: System,
    operator: Caller,
    caller: Caller,
    _processes: Vec<waybill_testkit::Process>,
}

async fn scene() -> Scene {
    let system = System::fresh().await;
    let (api, operator, caller) = system.called().await;
    let worker = system.start(&["worker"]);
    Scene { system, operator, caller, _processes: vec![api, worker] }
}

impl Scene {
    /// An export of this, as it is when it has succeeded, and its file.
    async fn exported(&self, body: &Value) -> (Value, Answer) {
        let intent = uuid::Uuid::new_v4().to_string();
        let export_id = id_of(&self.caller.ask(&intent, body).await.success());
        let export = self.caller.settled(&export_id).await;
        assert_eq!(export["state"], "succeeded", "{export}");
        let file = self.caller.get(&format!("/v1/exports/{export_id}/content")).await;
        assert_eq!(export["result"]["bytes"], file.bytes.len());
        (export, file)
    }

    /// What Postgres itself says of the tenant's rows: a text a row.
    async fn said(&self, expression: &str) -> Vec<String> {
        let statement =
            format!("SELECT {expression} FROM source.orders WHERE tenant_id = $1 ORDER BY order_id");
        let admin = self.system.database.admin().await;
        admin.batch_execute("SET timezone = 'UTC'").await.expect("set");
        let rows = admin.query(&statement, &[&self.caller.tenant_id()]).await.expect("rows");
        rows.iter().map(|row| row.get(0)).collect()
    }
}

fn unpacked(compression: &str, bytes: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    match compression {
        "none" => whole.extend_from_slice(bytes),
        "gzip" => {
            flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut whole).expect("gzip");
        }
        _ => whole = zstd::stream::decode_all(bytes).expect("zstd"),
    }
    whole
}

fn disposition(file: &Answer) -> &str {
    file.headers["content-disposition"].to_str().expect("text")
}

#[tokio::test]
async fn csv_is_what_postgres_writes_whatever_is_around_it() {
    let scene = scene().await;
    let quoted = |column: &str| {
        format!("CASE WHEN {column} IS NULL THEN '' ELSE '\"' || replace({column}, '\"', '\"\"') || '\"' END")
    };
    let rows =
        format!("concat_ws(',', order_id, {}, {}, amount, ordered_at)", quoted("customer"), quoted("note"));
    let wanted =
        format!("order_id,customer,note,amount,ordered_at\n{}\n", scene.said(&rows).await.join("\n"));
    for (compression, media_type, ending) in [
        ("none", "text/csv; charset=utf-8", "csv"),
        ("gzip", "application/gzip", "csv.gz"),
        ("zstd", "application/zstd", "csv.zst"),
    ] {
        let (export, file) =
            scene.exported(&json!({ "dataset": "orders", "compression": compression, "name": "Q3" })).await;
        assert_eq!(file.headers["content-type"], media_type);
        assert_eq!(disposition(&file), format!("attachment; filename=\"Q3.{ending}\""));
        assert_eq!((&export["compression"], &export["order"]), (&json!(compression), &json!("by_id")));
        let file = unpacked(compression, &file.bytes);
        let records = |text: &[u8]| -> Vec<csv::StringRecord> {
            csv::Reader::from_reader(text).records().map(|record| record.expect("CSV")).collect()
        };
        // Both are parsed: ours quotes only where it has to.
        assert_eq!(records(&file), records(wanted.as_bytes()), "{compression}");
        assert_eq!(records(&file).len(), usize::try_from(ROWS_OF_TENANT).expect("it fits"));
    }
}

#[tokio::test]
async fn ndjson_has_an_object_a_row_with_the_values_that_postgres_has() {
    let scene = scene().await;
    let object =
        "json_build_object('order_id', order_id, 'customer', customer, 'note', note, 'amount', amount::text,
         'ordered_at', to_char(ordered_at, 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"'))::text";
    let wanted: Vec<Value> =
        scene.said(object).await.iter().map(|text| serde_json::from_str(text).expect("JSON")).collect();
    for (compression, media_type) in
        [("none", "application/x-ndjson"), ("gzip", "application/gzip"), ("zstd", "application/zstd")]
    {
        let body = json!({ "dataset": "orders", "format": "ndjson", "compression": compression });
        let (_, file) = scene.exported(&body).await;
        assert_eq!(file.headers["content-type"], media_type);
        let text = String::from_utf8(unpacked(compression, &file.bytes)).expect("UTF-8");
        let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(rows, wanted, "{compression}");
    }
}

#[tokio::test]
async fn parquet_has_real_types_and_every_value() {
    let scene = scene().await;
    let wanted = scene
        .said(
            "jsonb_build_array(order_id, customer, note, amount::text,
         (extract(epoch FROM ordered_at) * 1000000)::bigint)::text",
        )
        .await;
    let wanted: Vec<Value> = wanted.iter().map(|text| serde_json::from_str(text).expect("JSON")).collect();
    for compression in ["none", "gzip", "zstd"] {
        let body = json!({ "dataset": "orders", "format": "parquet", "compression": compression });
        let (export, file) = scene.exported(&body).await;
        assert_eq!(file.headers["content-type"], "application/vnd.apache.parquet");
        let name =
            format!("attachment; filename=\"{}.parquet\"", export["export_id"].as_str().expect("an id"));
        assert_eq!(disposition(&file), name);
        let reader = SerializedFileReader::new(bytes::Bytes::from(file.bytes)).expect("Parquet");
        let rows = reader.get_row_iter(None).expect("rows").map(|row| {
            let row = row.expect("a row");
            row.get_column_iter().map(|(_, field)| value(field)).collect::<Value>()
        });
        assert_eq!(rows.collect::<Vec<_>>(), wanted, "{compression}");
    }
}

fn value(field: &Field) -> Value {
    if let Field::Long(number) | Field::TimestampMicros(number) = field {
        return json!(number);
    }
    if let Field::Str(text) = field {
        return json!(text);
    }
    assert!(matches!(field, Field::Null), "no column is of the type of {field:?}");
    Value::Null
}

#[tokio::test]
async fn rows_are_filtered_and_ordered_as_the_data_set_allows() {
    let scene = scene().await;
    let body = json!({
        "dataset": "orders", "columns": ["order_id"], "options": { "header": false }, "order": "newest",
        "filters": {
            "order_id": { "in": [3, "8", 13, 999_999] }, "customer": { "prefix": "さくら \"" },
            "ordered_at": { "range": { "gte": "2026-01-01T00:00:00+09:00" } },
        },
    });
    let (export, file) = scene.exported(&body).await;
    // Of five customers in turn, the third is さくら; its rows are 2, 7, 12, …
    assert_eq!(file.bytes, b"", "none of these is hers");
    assert_eq!(export["filters"]["order_id"]["in"], json!(["3", "8", "13", "999999"]));
    let mut hers = body;
    hers["filters"]["order_id"] = json!({ "range": { "lt": 13 } });
    let (export, file) = scene.exported(&hers).await;
    assert_eq!(file.bytes, b"12\n7\n2\n");
    assert_eq!((&export["result"]["rows"], &export["order"]), (&json!(3), &json!("newest")));
    let as_of = &export["result"]["as_of"];
    assert!(as_of["lsn"].is_string() && as_of["at"].is_string(), "{as_of}");
}

#[tokio::test]
async fn what_the_data_set_does_not_allow_is_refused_before_anything_is_stored() {
    let scene = scene().await;
    let refused = async |body: Value| {
        let answer = scene.caller.ask("intent-7", &body).await;
        let errors: Vec<String> = answer.json()["errors"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|error| error["field"].as_str().unwrap_or_default().to_owned())
            .collect();
        (answer.status.as_u16(), answer.code(), errors)
    };
    let wrong = json!({
        "dataset": "orders", "columns": ["order_id", "tenant_id"], "order": "oldest",
        "filters": { "note": { "eq": "x" }, "order_id": { "eq": "seven", "prefix": "1" }, "ordered_at": { "range": { "gt": "soon" } } },
    });
    let fields = [
        "columns[1]",
        "order",
        "filters.note",
        "filters.order_id.prefix",
        "filters.order_id.eq",
        "filters.ordered_at.range.gt",
    ];
    assert_eq!(refused(wrong).await, (422, "request-unfit".to_owned(), fields.map(str::to_owned).to_vec()));

    let exact = ORDERS.replace("{ name = \"amount\", as = \"text\" }", "\"amount\"");
    assert_eq!(scene.operator.apply_dataset(&exact).await["revision"], 2);
    let parquet = json!({ "dataset": "orders", "format": "parquet" });
    assert_eq!(
        refused(parquet).await,
        (422, "column-not-exportable".to_owned(), vec!["columns[3]".to_owned()])
    );
    let admin = scene.system.database.admin().await;
    let stored = admin.query_one("SELECT count(*) FROM export.intents", &[]).await.expect("a count");
    assert_eq!(stored.get::<_, i64>(0), 0, "the intent is still free");
    scene
        .exported(&json!({ "dataset": "orders", "format": "parquet", "columns": ["order_id", "note"] }))
        .await;
}

#[tokio::test]
async fn a_data_set_that_is_applied_again_leaves_the_exports_that_wait_as_they_were_accepted() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let operator = system.operator(&api).await;
    let caller = system.tenant(&operator, "a tenant").await;
    let waiting = caller.export("intent-7").await;

    let changed = ORDERS
        .replace("\"customer\", \"note\", ", "")
        .replace("by_id = [\"order_id\"]", "by_id = [\"order_id desc\"]");
    let applied = operator.apply_dataset(&changed).await;
    assert_eq!((&applied["revision"], &applied["applied"]), (&json!(2), &json!(true)));
    let said = applied["changes"].to_string();
    assert!(said.contains("columns") && said.contains("orders.by_id"), "{said}");
    let again = operator.apply_dataset(&changed).await;
    assert_eq!(
        (&again["revision"], &again["applied"], &again["changes"]),
        (&json!(2), &json!(false), &json!([]))
    );

    let _worker = system.start(&["worker"]);
    let (before, after) = (caller.settled(&waiting).await, caller.export("intent-8").await);
    let after = caller.settled(&after).await;
    assert_eq!((&before["dataset_revision"], &after["dataset_revision"]), (&json!(1), &json!(2)));
    let first_lines = async |export: &Value| {
        let file = caller.get(&format!("/v1/exports/{}/content", id_of(export))).await.bytes;
        let text = String::from_utf8(file).expect("UTF-8");
        text.split_once('\n')
            .map(|(header, rest)| (header.to_owned(), rest.split(',').next().unwrap_or_default().to_owned()))
    };
    let line = |header: &str, first: &str| Some((header.to_owned(), first.to_owned()));
    assert_eq!(first_lines(&before).await, line("order_id,customer,note,amount,ordered_at", "1"));
    assert_eq!(first_lines(&after).await, line("order_id,amount,ordered_at", "1000"));
    let shown = operator.get("/v1/ops/datasets/orders?revision=1").await.success();
    assert_eq!(shown["columns"].as_array().map(Vec::len), Some(5));
    assert_eq!(operator.get("/v1/ops/datasets/orders?revision=3").await.code(), "dataset-not-found");
}

#[tokio::test]
async fn a_tenant_sees_what_may_be_asked_and_not_where_it_lies() {
    let scene = scene().await;
    let listed = scene.caller.get("/v1/datasets").await.success();
    let orders = &listed["datasets"][0];
    assert_eq!(
        orders["columns"][0],
        json!({ "name": "order_id", "type": "bigint", "description": null, "as_text": false })
    );
    assert_eq!(orders["filters"]["customer"]["operators"], json!(["eq", "prefix", "is_null"]));
    assert_eq!(orders["orders"]["newest"][0], json!({ "column": "ordered_at", "descending": true }));
    assert_eq!(orders["formats"][2]["columns"]["ordered_at"], "INT64, TIMESTAMP(MICROS, UTC)");
    assert_eq!(orders["formats"][2]["compression"], "zstd");
    let text = listed.to_string();
    assert!(
        !text.contains("source.orders") && !text.contains("tenant_id") && !text.contains("main"),
        "{text}"
    );
}
