use proptest::prelude::*;
use waybill_domain::export::{Compression, Format, Operator};

use super::*;
use crate::declaration::DeclaredColumn;

const WHOLE: &str = r#"
name = "orders"
description = "Every order, one row each."
source = "shop"
table = "shop.orders"
tenant_column = "tenant_id"
max_snapshot_age = "30m"
columns = [
    "order_id",
    { name = "note", as = "text", description = "What the customer wrote." },
]

[filters]
paid_at = ["range", "is_null"]
status = ["eq", "in"]

[orders]
newest = ["paid_at desc", "order_id"]

[defaults]
order = "newest"
[defaults.csv]
delimiter = ";"
compression = "gzip"
"#;

const LEAST: &str =
    "name = \"a\"\nsource = \"s\"\ntable = \"s.a\"\ntenant_column = \"t\"\ncolumns = [\"c\"]\n";

fn problems(text: &str) -> Vec<String> {
    parse(text).expect_err("the file is wrong").iter().map(ToString::to_string).collect()
}

#[test]
fn a_file_says_where_rows_are_whose_they_are_and_what_may_be_asked_of_them() {
    let declaration = parse(WHOLE).expect("a good file");
    assert_eq!(declaration.rows, Rows::Table { schema: "shop".into(), name: "orders".into() });
    assert_eq!(declaration.owner, Owner::TenantColumn("tenant_id".into()));
    assert_eq!((declaration.max_snapshot_age_seconds, declaration.statement_timeout_seconds), (1_800, 1_800));
    let note = DeclaredColumn {
        name: "note".into(),
        description: Some("What the customer wrote.".into()),
        as_text: true,
    };
    assert_eq!(declaration.columns[1], note);
    assert_eq!(declaration.filters["paid_at"], [Operator::Range, Operator::IsNull]);
    let newest = &declaration.orders["newest"];
    assert_eq!(
        (newest[0].column.as_str(), newest[0].descending, newest[1].descending),
        ("paid_at", true, false)
    );
    let csv = declaration.defaults.formats[&Format::Csv];
    assert_eq!((csv.options.delimiter, csv.compression), (Some(';'), Some(Compression::Gzip)));
    assert_eq!(declaration.named_columns(), ["order_id", "note", "tenant_id", "paid_at", "status"]);
}

#[test]
fn a_declaration_is_the_same_after_it_was_stored() {
    let declaration = parse(WHOLE).expect("a good file");
    let stored = serde_json::to_string(&declaration).expect("JSON");
    assert_eq!(serde_json::from_str::<Declaration>(&stored).expect("it is read back"), declaration);
}

#[test]
fn everything_that_is_wrong_is_said_at_once_with_its_line_and_its_key() {
    let wrong = r#"name = "No!"
sauce = "shop"
table = "orders"
query = "SELECT 1;"
max_snapshot_age = "1 week"
columns = ["a", { name = "b", as = "xml", typ = 1 }, "a", 3]
[filters]
a = ["like", "eq", "eq"]
[orders]
newest = []
[defaults]
order = "oldest"
[defaults.parquet]
delimiter = ","
compression = "rar"
"#;
    let found = problems(wrong);
    let lines_and_keys: Vec<String> =
        found.iter().map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        lines_and_keys,
        [
            "1: name",
            "1: source",
            "1: tenant_column",
            "2: sauce",
            "4: query",
            "5: max_snapshot_age",
            "6: columns[1].typ",
            "6: columns[1].as",
            "6: columns[2]",
            "6: columns[3]",
            "8: filters.a[0]",
            "8: filters.a[2]",
            "10: orders.newest",
            "12: defaults.order",
            "14: defaults.parquet.delimiter",
            "15: defaults.parquet.compression",
        ],
        "{found:#?}"
    );
    assert!(found[3].contains("there are name, description, source"), "{found:?}");
}

#[test]
fn what_is_no_toml_is_refused_with_its_line() {
    assert!(
        problems("name = \"a\"\nsource = shop\n")[0].starts_with("2: is no TOML"),
        "{:?}",
        problems("\na = b")
    );
}

#[test]
fn rows_without_an_owner_need_a_reason() {
    let shared = LEAST.replace("tenant_column = \"t\"", "shared_because = \"currencies are everybody's\"");
    let declaration = parse(&shared).expect("a good file");
    assert_eq!(declaration.owner, Owner::SharedBecause("currencies are everybody's".into()));
    assert!(problems(&LEAST.replace("tenant_column = \"t\"", ""))[0].contains("say why in shared_because"));
    assert!(
        problems(&LEAST.replace("tenant_column = \"t\"", "shared_because = \" \""))[0]
            .contains("must say why")
    );
    assert!(problems(&format!("shared_because = \"x\"\n{LEAST}"))[0].contains("keep one"));
}

#[test]
fn a_query_is_one_select_and_its_last_line_may_be_a_comment() {
    let query = |text: &str| LEAST.replace("table = \"s.a\"", &format!("query = '''{text}'''"));
    let declaration = parse(&query("\nSELECT 1 AS c, 't' AS t -- all\n")).expect("a good file");
    assert_eq!(
        crate::select(&declaration),
        "SELECT waybill_rows.* FROM (\nSELECT 1 AS c, 't' AS t -- all\n) AS waybill_rows"
    );
    assert!(problems(&query("SELECT 1; "))[0].contains("without a semicolon"));
    assert!(problems(&query(" "))[0].contains("one SELECT"));
}

proptest! {
    #[test]
    fn no_file_ends_otherwise_than_with_a_declaration_or_with_what_is_wrong(text in "[a-z=\\[\\]\"{},. \n#'0-9]{0,200}") {
        if let Err(problems) = parse(&text) {
            prop_assert!(!problems.is_empty());
            let lines = text.lines().count().max(1) + 1;
            prop_assert!(problems.iter().all(|problem| (1..=lines).contains(&problem.line)));
        }
    }

    #[test]
    fn a_line_that_is_taken_out_of_a_good_file_is_missed_or_was_optional(line in 0..WHOLE.lines().count()) {
        let text: String = WHOLE.lines().enumerate().filter(|(n, _)| *n != line).map(|(_, line)| format!("{line}\n")).collect();
        match parse(&text) {
            Ok(declaration) => prop_assert_eq!(declaration.dataset, "orders"),
            Err(problems) => prop_assert!(problems.iter().all(|problem| !problem.problem.is_empty())),
        }
    }
}
