//! What becomes of types, and what is refused.

use super::*;
use crate::column::{ArrayOf, TypeKind};
use crate::file_kind::{Compression, CsvOptions, NdjsonOptions, ParquetOptions};
use crate::{SOURCE_ALIAS, codes};

fn scalar(oid: u32, name: &str, typmod: i32) -> PgType {
    PgType { oid, name: name.to_owned(), kind: TypeKind::Base, typmod, array: None }
}

fn array(oid: u32, name: &str, dimensions: Option<u16>) -> PgType {
    let array = ArrayOf { oid, kind: TypeKind::Base, dimensions };
    PgType { oid: 1, name: name.to_owned(), kind: TypeKind::Base, typmod: -1, array: Some(array) }
}

fn column(name: &str, pg_type: PgType) -> Column {
    Column { name: name.to_owned(), pg_type, as_text: false }
}

fn kind(format: Format) -> FileKind {
    FileKind::new(format, Compression::None).expect("no compression around it")
}

fn parquet() -> FileKind {
    kind(Format::Parquet(ParquetOptions::default()))
}

/// `numeric(precision, scale)`.
fn numeric(precision: i32, scale: i32) -> PgType {
    scalar(1700, &format!("numeric({precision},{scale})"), ((precision << 16) | (scale & 0x7ff)) + 4)
}

fn file_type(pg_type: PgType, kind: FileKind) -> Result<String, PlanError> {
    Plan::new(&[column("c", pg_type)], kind).map(|plan| plan.columns()[0].file_type().to_owned())
}

#[test]
fn everything_that_is_wrong_is_said_at_once_and_names_what_to_choose() {
    let columns = [
        column("total", scalar(1700, "numeric", -1)),
        column("id", scalar(20, "bigint", -1)),
        column("id", scalar(20, "bigint", -1)),
        column("grid", array(23, "integer[]", Some(2))),
        column("nothing", PgType { kind: TypeKind::Pseudo, ..scalar(2278, "void", -1) }),
    ];
    let refused = Plan::new(&columns, parquet()).expect_err("four of them are wrong");
    let named: Vec<_> = refused.problems().iter().map(|problem| problem.column.as_deref()).collect();
    assert_eq!(named, [Some("total"), Some("id"), Some("grid"), Some("nothing")]);
    assert!(refused.problems().iter().all(|problem| problem.code() == codes::COLUMN_NOT_EXPORTABLE));
    let said = refused.to_string();
    for words in
        ["column total: numeric without precision", "numeric(precision, scale)", "choose NDJSON or CSV"]
    {
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn a_file_without_columns_is_refused() {
    let refused = Plan::new(&[], parquet()).expect_err("no columns");
    assert_eq!(refused.problems()[0].code(), codes::FORMAT_OPTION_INVALID);
}

#[test]
fn a_decimal_is_as_wide_as_its_digits_need() {
    for ((precision, scale), expected) in [
        ((9, 2), "INT32, DECIMAL(9, 2)"),
        ((18, 0), "INT64, DECIMAL(18, 0)"),
        ((38, 10), "FIXED_LEN_BYTE_ARRAY, DECIMAL(38, 10)"),
        ((3, -2), "INT32, DECIMAL(5, 0)"),
        ((2, 5), "INT32, DECIMAL(5, 5)"),
    ] {
        assert_eq!(file_type(numeric(precision, scale), parquet()).as_deref(), Ok(expected));
    }
    for (precision, scale) in [(39, 0), (1000, 500), (38, -1), (1, 39), (1, -1000)] {
        assert!(file_type(numeric(precision, scale), parquet()).is_err(), "numeric({precision},{scale})");
    }
}

#[test]
fn a_column_that_is_asked_for_as_text_is_text_in_every_format() {
    let as_text = Column { as_text: true, ..column("c", scalar(1700, "numeric", -1)) };
    for format in [Format::Parquet(ParquetOptions::default()), Format::Ndjson(NdjsonOptions::default())] {
        let plan = Plan::new(std::slice::from_ref(&as_text), kind(format)).expect("text is always possible");
        assert!(plan.columns()[0].expression().contains("pg_catalog.format('%s', "), "{plan:?}");
    }
}

#[test]
fn what_no_decoder_writes_as_postgres_does_comes_as_its_text() {
    let inet = column("i", scalar(869, "inet", -1));
    let interval = column("v", scalar(1186, "interval", -1));
    let float = column("f", scalar(701, "double precision", -1));
    let csv = Plan::new(&[inet, interval, float.clone()], kind(Format::Csv(CsvOptions::default())));
    assert_eq!(
        csv.expect("CSV takes all").copy_statement(&format!("FROM t AS {SOURCE_ALIAS}")),
        "COPY (SELECT waybill_rows.\"i\", waybill_rows.\"v\"::pg_catalog.text, waybill_rows.\"f\"::pg_catalog.text \
         FROM t AS waybill_rows) TO STDOUT (FORMAT binary)"
    );
    let ndjson = Plan::new(&[float], kind(Format::Ndjson(NdjsonOptions::default()))).expect("so does NDJSON");
    assert_eq!(
        ndjson.copy_statement("FROM t"),
        "COPY (SELECT waybill_rows.\"f\" FROM t) TO STDOUT (FORMAT binary)"
    );
    let integers = column("a", array(23, "integer[]", None));
    let csv = Plan::new(&[integers], kind(Format::Csv(CsvOptions::default()))).expect("CSV takes all");
    assert!(csv.columns()[0].expression().starts_with("CASE WHEN"), "an array comes as its text, too");
}

#[test]
fn a_type_of_the_database_itself_never_goes_through_a_cast_of_its_own() {
    let own = scalar(16_400, "money_with_cast", -1);
    let own_array = array(16_400, "money_with_cast[]", None);
    let xml_array = array(142, "xml[]", None);
    for pg_type in [own, own_array, xml_array, scalar(142, "xml", -1)] {
        let plan = Plan::new(&[column("c", pg_type)], kind(Format::Ndjson(NdjsonOptions::default())));
        assert!(plan.expect("text").columns()[0].expression().starts_with("CASE WHEN"));
    }
}

#[test]
fn a_row_that_a_query_makes_is_text() {
    let row = PgType { kind: TypeKind::Pseudo, ..scalar(2249, "record", -1) };
    assert_eq!(file_type(row, parquet()).as_deref(), Ok("BYTE_ARRAY, STRING"));
}
