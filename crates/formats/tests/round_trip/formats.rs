//! Each format in each compression, through readers that are not ours.

use bytes::BytesMut;
use serde_json::{Map, Value, json};
use waybill_formats::{
    Column, Compression, CsvOptions, Delimiter, FileKind, Format, NdjsonOptions, ParquetOptions, Plan,
    SOURCE_ALIAS, WideNumbers,
};

use crate::database::{Awkward, copied, describe};
use crate::file::{count, encode, stored};
use crate::reader::{Rows, read};
use crate::samples::{Leaf, Sample};

const AROUND: [Compression; 3] = [Compression::None, Compression::Gzip, Compression::Zstd];

/// A file of the table, after it was seen to be the same however its stream is cut, and to have its rows when it is
/// read back.
struct Made {
    file: Vec<u8>,
    plan: Plan,
    rows: usize,
}

async fn made(awkward: &Awkward, kind: FileKind, pass: impl Fn(&Sample) -> bool) -> Made {
    let columns = awkward.columns(pass).await;
    let plan = Plan::new(&columns, kind).unwrap_or_else(|refused| panic!("{refused}"));
    let messages = awkward.copied(&plan).await;
    let rows = awkward.texts("id").await.len();
    let whole: Vec<u8> = messages.concat();
    let rows_sent = rows as u64;
    let encoded =
        |pieces: Vec<&[u8]>| encode(&plan, pieces, rows_sent).unwrap_or_else(|error| panic!("{error}"));
    let file = encoded(messages.iter().map(AsRef::as_ref).collect());
    for piece_bytes in [1, 1_000, whole.len()] {
        let again = encoded(whole.chunks(piece_bytes).collect());
        assert!(again == file, "pieces of {piece_bytes} B gave another file");
        assert_eq!(count(kind, &file, piece_bytes).expect("the file is whole"), rows_sent);
    }
    Made { file, plan, rows }
}

/// Compares one column that a reader found with the table.
async fn judge(awkward: &Awkward, reader: &str, plan: &Plan, rows: &Rows, skip: impl Fn(&Sample) -> bool) {
    let ids: Vec<i32> =
        rows.iter().map(|row| row[0].as_deref().expect("an id").parse().expect("a number")).collect();
    for (at, column) in plan.columns().iter().enumerate().skip(1) {
        let sample = awkward.samples.iter().find(|sample| sample.name == column.name()).expect("a sample");
        if skip(sample) {
            continue;
        }
        let read: Vec<(i32, Option<String>)> =
            ids.iter().copied().zip(rows.iter().map(|row| row[at].clone())).collect();
        let differing = awkward.differing(sample, &read).await;
        assert!(differing.is_empty(), "{reader}, {} {}: {differing:?}", sample.name, sample.pg_type);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn csv_is_what_postgres_says_to_every_reader() {
    let awkward = Awkward::made().await;
    for around in AROUND {
        let kind = FileKind::new(Format::Csv(CsvOptions::default()), around).expect("they go together");
        let Made { file, plan, rows } = made(&awkward, kind, |_| true).await;
        let path = stored("types", kind, &file);
        for reader in ["csv", "pyarrow", "duckdb"] {
            let found = read(reader, &path, &json!({})).await;
            assert_eq!(found.len(), rows, "{reader}");
            for (at, column) in plan.columns().iter().enumerate() {
                let texts = awkward.texts(column.name()).await;
                for (row, (id, expected)) in found.iter().zip(texts) {
                    // Python's reader gives an empty text for NULL.
                    let expected =
                        if reader == "csv" { Some(expected.unwrap_or_default()) } else { expected };
                    assert!(row[at] == expected, "{reader}, row {id}, {}: {expected:?}", column.name());
                }
            }
        }
    }
}

/// A file as Postgres itself writes it.
async fn by_postgres(awkward: &Awkward, query: &str, options: &str) -> Vec<u8> {
    let statement = format!("COPY ({query}) TO STDOUT (FORMAT csv, ENCODING 'UTF8'{options})");
    copied(&awkward.client, &statement).await.concat()
}

/// The same by us.
async fn by_us(awkward: &Awkward, columns: &[Column], from: &str, options: CsvOptions) -> Vec<u8> {
    let kind = FileKind::new(Format::Csv(options), Compression::None).expect("they go together");
    let plan = Plan::new(columns, kind).unwrap_or_else(|refused| panic!("{refused}"));
    let stream = copied(&awkward.client, &plan.copy_statement(from)).await.concat();
    let mut encoder = plan.encoder().expect("it begins");
    let mut file = BytesMut::new();
    encoder.write(&stream, &mut file).unwrap_or_else(|error| panic!("{error}"));
    file.to_vec()
}

fn assert_same(ours: &[u8], theirs: &[u8], what: &str) {
    let differs = ours.iter().zip(theirs).position(|(ours, theirs)| ours != theirs);
    let Some(at) = differs.or((ours.len() != theirs.len()).then(|| ours.len().min(theirs.len()))) else {
        return;
    };
    let around = |file: &[u8]| {
        String::from_utf8_lossy(&file[at.saturating_sub(40)..file.len().min(at + 40)]).into_owned()
    };
    panic!("{what}: at {at}\nours:   {:?}\ntheirs: {:?}", around(ours), around(theirs));
}

#[tokio::test(flavor = "multi_thread")]
async fn csv_is_byte_for_byte_what_postgres_itself_writes() {
    let awkward = Awkward::made().await;
    let columns = awkward.columns(|_| true).await;
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let ordered = |names: &str| format!("SELECT {names} FROM awkward ORDER BY awkward.id");
    let from = format!("FROM awkward AS {SOURCE_ALIAS} ORDER BY {SOURCE_ALIAS}.id");
    let plain = CsvOptions::default();
    let delimiters = [
        (Delimiter::Comma, ""),
        (Delimiter::Semicolon, ", DELIMITER ';'"),
        (Delimiter::Tab, ", DELIMITER E'\\t'"),
        (Delimiter::Pipe, ", DELIMITER '|'"),
    ];
    for (delimiter, said) in delimiters {
        let options = CsvOptions { delimiter, ..plain };
        let theirs = by_postgres(&awkward, &ordered(&names.join(", ")), &format!(", HEADER{said}")).await;
        assert_same(&by_us(&awkward, &columns, &from, options).await, &theirs, &format!("{delimiter:?}"));
    }
    // Alone in its line a value may be quoted otherwise.
    for column in &columns {
        let options = CsvOptions { header: false, ..plain };
        let ours = by_us(&awkward, std::slice::from_ref(column), &from, options).await;
        assert_same(&ours, &by_postgres(&awkward, &ordered(&column.name), "").await, &column.name);
    }
}

/// The seed is Postgres' own, so that a failure can be had again.
#[tokio::test(flavor = "multi_thread")]
async fn csv_of_values_that_nobody_thought_of_is_byte_for_byte_what_postgres_itself_writes() {
    let awkward = Awkward::made().await;
    awkward.client.batch_execute("SELECT setseed(0.5)").await.expect("a seed");
    awkward
        .client
        .batch_execute(concat!("CREATE TABLE anything AS ", include_str!("anything.sql")))
        .await
        .expect("a table of anything");
    let columns = describe(&awkward.client, "SELECT * FROM anything").await;
    let from = format!("FROM anything AS {SOURCE_ALIAS}");
    let ours = by_us(&awkward, &columns, &from, CsvOptions::default()).await;
    let theirs = by_postgres(&awkward, "SELECT * FROM anything", ", HEADER").await;
    assert!(theirs.len() > 1_000_000, "there is something to compare");
    assert_same(&ours, &theirs, "anything");
}

#[tokio::test(flavor = "multi_thread")]
async fn ndjson_is_read_back_as_the_values_that_postgres_has() {
    let awkward = Awkward::made().await;
    let leaves = awkward.samples.iter().filter_map(|sample| match sample.leaf {
        Leaf::Plain => None,
        Leaf::Base64 => Some((sample.name.to_owned(), json!("base64"))),
        Leaf::Json => Some((sample.name.to_owned(), json!("skip"))),
    });
    let leaves = Value::Object(leaves.collect::<Map<_, _>>());
    // DuckDB knows numbers as 64-bit floats, and is told of wider ones as texts.
    for (reader, wide_numbers) in [("json", WideNumbers::Number), ("duckdb", WideNumbers::Text)] {
        for around in AROUND {
            let format = Format::Ndjson(NdjsonOptions { wide_numbers });
            let kind = FileKind::new(format, around).expect("they go together");
            let Made { file, plan, rows } = made(&awkward, kind, |_| true).await;
            let found = read(reader, &stored(&format!("types-{reader}"), kind, &file), &leaves).await;
            assert_eq!(found.len(), rows, "{reader}");
            judge(&awkward, reader, &plan, &found, |sample| sample.leaf == Leaf::Json).await;
            if around == Compression::None {
                documents_are_verbatim(&awkward, std::str::from_utf8(&file).expect("JSON is UTF-8")).await;
            }
        }
    }
}

/// A document is in its line as Postgres has it, but for its line breaks.
async fn documents_are_verbatim(awkward: &Awkward, file: &str) {
    for sample in awkward.samples.iter().filter(|sample| sample.leaf == Leaf::Json) {
        let is_array = sample.pg_type.ends_with("[]");
        let text = if is_array { format!("array_to_json({})", sample.name) } else { sample.name.to_owned() };
        for (line, (id, expected)) in file.lines().zip(awkward.texts(&text).await) {
            let expected = expected.unwrap_or("null".to_owned()).replace(['\r', '\n'], " ");
            let member = format!("\"{}\":{expected}", sample.name);
            assert!(line.contains(&member), "row {id} has no {member}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn parquet_is_read_back_as_the_values_that_postgres_has() {
    let awkward = Awkward::made().await;
    for codec in AROUND {
        let kind = FileKind::new(Format::Parquet(ParquetOptions { codec }), Compression::None);
        let kind = kind.expect("nothing around it");
        let Made { file, plan, rows } = made(&awkward, kind, |sample| sample.in_parquet).await;
        let path = stored(&format!("types-{codec:?}"), kind, &file);
        for reader in ["pyarrow", "duckdb"] {
            let found = read(reader, &path, &json!({})).await;
            assert_eq!(found.len(), rows, "{reader}");
            judge(&awkward, reader, &plan, &found, |_| false).await;
        }
    }
}
