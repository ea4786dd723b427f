//! The tables of `docs/formats.md`, made again from what the code does with a value of each type.

use std::fmt::Write as _;
use std::path::Path;

use tokio_postgres::Client;
use waybill_formats::{
    Column, Compression, CsvOptions, FileKind, Format, NdjsonOptions, ParquetOptions, Plan, PlannedColumn,
    SESSION_SETTINGS, SOURCE_ALIAS,
};
use waybill_testkit::TestDatabase;

use crate::database::{copied, describe};
use crate::file::encode;

/// What the types of one's own in the examples are.
const DEFINITIONS: [&str; 5] = [
    "CREATE EXTENSION hstore",
    "CREATE EXTENSION citext",
    "CREATE TYPE mood AS ENUM ('happy')",
    "CREATE TYPE pair AS (a integer, b text)",
    "CREATE DOMAIN amount AS numeric(12, 2)",
];

/// A type as the page calls it, as SQL does where that is not the same, and a value of it.
const EXAMPLES: [(&str, Option<&str>, &str); 67] = [
    ("boolean", None, "true"),
    ("smallint", None, "-7"),
    ("integer", None, "-7"),
    ("bigint", None, "9007199254740993"),
    ("oid", None, "4294967295"),
    ("real", None, "0.1"),
    ("double precision", None, "-1e300"),
    ("numeric", None, "12345678901234567890.10"),
    ("numeric(9, 2)", None, "-1.50"),
    ("numeric(18, 6)", None, "-1.50"),
    ("numeric(38, 10)", None, "-1.50"),
    ("numeric(39, 0)", None, "1"),
    ("numeric(5, -2)", None, "1234500"),
    ("money", None, "-1234.50"),
    ("text, character varying", Some("text"), "say \"hi\", 訂單"),
    ("character(6)", None, "ab"),
    ("name", None, "ab"),
    ("\"char\"", None, "a"),
    ("an enumeration", Some("mood"), "happy"),
    ("a domain", Some("amount"), "1.50"),
    ("bytea", None, "\\x00ff"),
    ("json", None, "{\"a\": 1.10}"),
    ("jsonb", None, "{\"a\": 1.10}"),
    ("jsonpath", None, "$.a"),
    ("xml", None, "<a/>"),
    ("date", None, "0044-03-15 BC"),
    ("time", None, "13:05:59.5"),
    ("time with time zone", None, "13:05:59.5+02"),
    ("timestamp", None, "2026-01-31 13:05:59.5"),
    ("timestamp with time zone", None, "2026-01-31 13:05:59.5+02"),
    ("interval", None, "1 mon -2 days 00:00:03.5"),
    ("uuid", None, "00112233-4455-6677-8899-aabbccddeeff"),
    ("inet", None, "10.0.0.1"),
    ("cidr", None, "10.0.0.0/8"),
    ("macaddr", None, "08:00:2b:01:02:03"),
    ("macaddr8", None, "08:00:2b:01:02:03:04:05"),
    ("bit(5)", None, "10101"),
    ("bit varying", None, "101"),
    ("a range", Some("numrange"), "[1.50,)"),
    ("a multirange", Some("int4multirange"), "{[1,3),[7,9)}"),
    ("a composite type", Some("pair"), "(1,)"),
    ("point", None, "(0.1,2)"),
    ("line", None, "{1,-1,0}"),
    ("lseg", None, "[(0,0),(1,1)]"),
    ("box", None, "(1,1),(0,0)"),
    ("path", None, "((0,0),(1,1))"),
    ("polygon", None, "((0,0),(1,1),(2,0))"),
    ("circle", None, "<(0,0),2.5>"),
    ("tsvector", None, "'a':1A"),
    ("tsquery", None, "'a' & !'b'"),
    ("pg_lsn", None, "16/B374D848"),
    ("xid", None, "7"),
    ("xid8", None, "7"),
    ("tid", None, "(0,1)"),
    ("regclass, regtype and so on", Some("regclass"), "pg_class"),
    ("hstore", None, "\"a\"=>NULL"),
    ("citext", None, "Ab"),
    ("integer[]", None, "{1,NULL}"),
    ("integer[], two dimensions", Some("integer[]"), "{{1,2},{3,4}}"),
    ("text[]", None, "{a,NULL,\"\"}"),
    ("numeric(12, 3)[]", None, "{1.500}"),
    ("bytea[]", None, "{\"\\\\x00ff\"}"),
    ("timestamptz[]", None, "{2026-01-31 13:05:59.5+02}"),
    ("interval[], ranges and so on", Some("interval[]"), "{00:00:03.5}"),
    ("int2vector", None, "1 2"),
    ("array of composite types", Some("pair[]"), "{\"(1,)\"}"),
    ("xml[]", None, "{<a/>}"),
];

struct Documented {
    /// Its connections end with it.
    _database: TestDatabase,
    client: Client,
}

impl Documented {
    async fn made() -> Self {
        let database = TestDatabase::empty().await;
        let client = database.admin().await;
        for definition in DEFINITIONS {
            client.batch_execute(definition).await.expect(definition);
        }
        for (name, value) in SESSION_SETTINGS {
            client.execute("SELECT set_config($1, $2, false)", &[&name, &value]).await.expect("a setting");
        }
        Self { _database: database, client }
    }

    /// The column of an example, and the query that has it.
    async fn column(&self, pg_type: &str, value: &str) -> (Column, String) {
        let query = format!("SELECT '{}'::{pg_type} AS c", value.replace('\'', "''"));
        let mut columns = describe(&self.client, &query).await;
        (columns.remove(0), query)
    }

    /// A file with the one row that the query has.
    async fn file(&self, plan: &Plan, query: &str) -> Result<String, waybill_formats::EncodeError> {
        let statement = plan.copy_statement(&format!("FROM ({query}) AS {SOURCE_ALIAS}"));
        let messages = copied(&self.client, &statement).await;
        let file = encode(plan, messages.iter().map(AsRef::as_ref), 1)?;
        Ok(String::from_utf8_lossy(&file).into_owned())
    }
}

fn plan(column: &Column, format: Format) -> Result<Plan, waybill_formats::PlanError> {
    Plan::new(
        std::slice::from_ref(column),
        FileKind::new(format, Compression::None).expect("nothing around it"),
    )
}

fn selected(column: &PlannedColumn) -> &'static str {
    match column.expression() {
        expression if expression.starts_with("CASE") => "its text",
        expression if expression.ends_with("text[]") => "`::text[]`",
        expression if expression.ends_with("text") => "`::text`",
        _ => "binary",
    }
}

/// What a table's cell takes: a bar would end it.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn is_on_the_page(table: &str) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats.md");
    let text = std::fs::read_to_string(page).expect("docs/formats.md");
    assert!(text.contains(table), "docs/formats.md does not have this table:\n{table}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_has_what_each_type_is_in_csv() {
    let documented = Documented::made().await;
    let mut table = "| type | for example |\n|---|---|\n".to_owned();
    for (name, pg_type, value) in EXAMPLES {
        let (column, query) = documented.column(pg_type.unwrap_or(name), value).await;
        let format = Format::Csv(CsvOptions { header: false, ..CsvOptions::default() });
        let plan = plan(&column, format).expect("CSV takes all");
        let file = documented.file(&plan, &query).await.expect("CSV takes all");
        let _infallible = writeln!(table, "| {name} | `{}` |", cell(file.trim_end_matches('\n')));
    }
    is_on_the_page(&table);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_has_what_each_type_is_in_ndjson() {
    let documented = Documented::made().await;
    let mut table = "| type | read | in the file | for example |\n|---|---|---|---|\n".to_owned();
    for (name, pg_type, value) in EXAMPLES {
        let (column, query) = documented.column(pg_type.unwrap_or(name), value).await;
        let plan = plan(&column, Format::Ndjson(NdjsonOptions::default())).expect("NDJSON takes all");
        let file = documented.file(&plan, &query).await.expect("NDJSON takes all");
        let member =
            file.strip_prefix("{\"c\":").and_then(|rest| rest.strip_suffix("}\n")).expect("one member");
        let planned = &plan.columns()[0];
        let (read, file_type) = (selected(planned), planned.file_type());
        let _infallible = writeln!(table, "| {name} | {read} | {} | `{}` |", cell(file_type), cell(member));
    }
    is_on_the_page(&table);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_has_what_each_type_is_in_parquet() {
    let documented = Documented::made().await;
    let mut table = "| type | read | in the file |\n|---|---|---|\n".to_owned();
    for (name, pg_type, value) in EXAMPLES {
        let (column, query) = documented.column(pg_type.unwrap_or(name), value).await;
        let row = match plan(&column, Format::Parquet(ParquetOptions::default())) {
            Err(_refused) => "| refused before it starts".to_owned(),
            Ok(plan) => {
                let planned = &plan.columns()[0];
                let read = selected(planned);
                match documented.file(&plan, &query).await {
                    Ok(_) => format!("{read} | {}", planned.file_type()),
                    Err(_) => format!("{read} | refused at the value"),
                }
            }
        };
        let _infallible = writeln!(table, "| {name} | {} |", row.trim_start_matches("| "));
    }
    is_on_the_page(&table.replace("| refused before it starts |", "| | refused before it starts |"));
}
