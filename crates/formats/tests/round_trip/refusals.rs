//! What a file cannot hold is refused by name, and what is asked for as text can always be held.

use waybill_formats::{
    Column, Compression, CsvOptions, EncodeError, FileKind, Format, NdjsonOptions, ParquetOptions, Plan,
    SOURCE_ALIAS, codes,
};
use waybill_testkit::TestDatabase;

use crate::database::{Awkward, copied, describe};
use crate::file::encode;

fn kind(format: Format) -> FileKind {
    FileKind::new(format, Compression::None).expect("nothing around it")
}

fn parquet() -> FileKind {
    kind(Format::Parquet(ParquetOptions::default()))
}

#[tokio::test(flavor = "multi_thread")]
async fn what_parquet_cannot_hold_is_refused_before_or_at_the_value_and_is_text_when_asked_for() {
    let awkward = Awkward::made().await;
    let refused_at_once = ["c_numeric", "c_numerics"];
    for sample in awkward.samples.iter().filter(|sample| !sample.in_parquet) {
        let columns = awkward.columns(|other| other.name == sample.name).await;
        match Plan::new(&columns, parquet()) {
            Err(refused) => {
                assert!(refused_at_once.contains(&sample.name), "{refused}");
                assert_eq!(refused.problems()[0].column.as_deref(), Some(sample.name));
            }
            Ok(plan) => {
                let messages = awkward.copied(&plan).await;
                let rows = messages.iter().map(AsRef::as_ref);
                let error = encode(&plan, rows, 0).expect_err(sample.name);
                assert_eq!(error.code(), codes::VALUE_NOT_EXPORTABLE, "{}: {error}", sample.name);
                let named =
                    matches!(&error, EncodeError::Value { row: 1, column, .. } if *column == sample.name);
                assert!(named, "{}: {error}", sample.name);
            }
        }
        let as_text: Vec<Column> = columns
            .into_iter()
            .map(|column| Column { as_text: column.name == sample.name, ..column })
            .collect();
        let plan = Plan::new(&as_text, parquet()).expect("text is always possible");
        assert_eq!(plan.columns()[1].file_type(), "BYTE_ARRAY, STRING");
        let messages = awkward.copied(&plan).await;
        let rows = awkward.texts("id").await.len() as u64;
        encode(&plan, messages.iter().map(AsRef::as_ref), rows).expect(sample.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_column_is_selected_whatever_it_is_called_and_sorted_by_its_value() {
    let database = TestDatabase::empty().await;
    let client = database.admin().await;
    let name = "a \"b\"; DROP TABLE t; --";
    client
        .batch_execute(&format!(
            "CREATE TABLE t (\"{}\" interval, \"Select\" text);
             INSERT INTO t VALUES ('2 days', 'second'), ('10 days', 'third'), ('1 day', 'first')",
            name.replace('"', "\"\"")
        ))
        .await
        .expect("a table");
    let columns = describe(&client, "SELECT * FROM t").await;
    let plan = Plan::new(&columns, kind(Format::Ndjson(NdjsonOptions::default()))).expect("a plan");
    let quoted = "\"a \"\"b\"\"; DROP TABLE t; --\"";
    let rest = format!("FROM t AS {SOURCE_ALIAS} ORDER BY {SOURCE_ALIAS}.{quoted}");
    let messages = copied(&client, &plan.copy_statement(&rest)).await;
    let file = encode(&plan, messages.iter().map(AsRef::as_ref), 3).expect("three rows");
    let lines: Vec<serde_json::Value> = std::str::from_utf8(&file)
        .expect("UTF-8")
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    // As texts, '10 days' would come first.
    assert_eq!(lines.iter().map(|line| &line["Select"]).collect::<Vec<_>>(), ["first", "second", "third"]);
    assert!(lines[0].get(name).is_some(), "{:?}", lines[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn domains_are_resolved_over_arrays_and_inside_of_them() {
    let awkward = Awkward::made().await;
    let columns = awkward.columns(|sample| sample.name.contains("amount")).await;
    let plan = Plan::new(&columns, parquet()).expect("decimals");
    let types: Vec<(&str, &str)> =
        plan.columns().iter().skip(1).map(|column| (column.name(), column.file_type())).collect();
    let expected = [
        ("c_amount_array", "list of INT64, DECIMAL(10, 2)"),
        ("c_amounts", "list of INT64, DECIMAL(10, 2)"),
        ("c_amount", "INT64, DECIMAL(10, 2)"),
        ("c_positive_amount", "INT64, DECIMAL(10, 2)"),
    ];
    assert_eq!(types, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_a_query_makes_and_a_byte_that_is_no_character_are_text() {
    let database = TestDatabase::empty().await;
    let client = database.admin().await;
    let query = "SELECT ROW(1, 'a', NULL) AS r, (-128)::\"char\" AS c, ROW(NULL) AS n";
    let columns = describe(&client, query).await;
    let plan = Plan::new(&columns, kind(Format::Ndjson(NdjsonOptions::default()))).expect("a plan");
    let statement = plan.copy_statement(&format!("FROM ({query}) AS {SOURCE_ALIAS}"));
    let messages = copied(&client, &statement).await;
    let file = encode(&plan, messages.iter().map(AsRef::as_ref), 1).expect("one row");
    let expected = "{\"r\":\"(1,a,)\",\"c\":\"\\\\200\",\"n\":\"()\"}\n";
    assert_eq!(std::str::from_utf8(&file), Ok(expected));

    let nothing = describe(&client, "SELECT 1 AS a, pg_sleep(0) AS b").await;
    for format in [Format::Csv(CsvOptions::default()), Format::Ndjson(NdjsonOptions::default())] {
        let refused = Plan::new(&nothing, kind(format)).expect_err("void has no values");
        assert_eq!(refused.problems()[0].code(), codes::COLUMN_NOT_EXPORTABLE);
    }
}

/// The built-in types that are cast to text are those that Postgres casts by their output function.
#[tokio::test(flavor = "multi_thread")]
async fn no_type_that_is_cast_has_a_cast_that_writes_something_else() {
    let database = TestDatabase::empty().await;
    let client = database.admin().await;
    let query = "SELECT format_type(type.oid, NULL) AS name FROM pg_type AS type
                 JOIN pg_cast ON castsource = type.oid AND casttarget = 'text'::regtype AND castmethod <> 'i'
                 WHERE type.oid < 16384 AND type.typtype <> 'p' AND castmethod = 'f'";
    let rows = client.query(query, &[]).await.expect("the casts");
    assert!(!rows.is_empty());
    for row in rows {
        let columns = describe(&client, &format!("SELECT NULL::{} AS c", row.get::<_, &str>(0))).await;
        let plan = Plan::new(&columns, kind(Format::Ndjson(NdjsonOptions::default()))).expect("a plan");
        let expression = plan.columns()[0].expression();
        assert!(!expression.contains("::"), "{}: {expression}", columns[0].pg_type.name);
    }
}
