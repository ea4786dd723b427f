//! Data sets from the command line: their files are checked, applied and looked at.

use std::path::PathBuf;

use serde_json::Value;
use waybill_testkit::{ORDERS, System};

use crate::shell::{Shell, caller, text};

/// Writes a file of this system's own.
fn file(system: &System, name: &str, content: &str) -> String {
    let path: PathBuf = system.objects().join(name);
    std::fs::write(&path, content).expect("the file is written");
    path.to_str().expect("a path in Unicode").to_owned()
}

/// What was found about a subject.
fn about<'a>(checked: &'a Value, subject: &str) -> &'a Value {
    let mut findings = checked["findings"].as_array().into_iter().flatten();
    findings
        .find(|finding| finding["subject"] == subject)
        .unwrap_or_else(|| panic!("nothing about {subject}: {checked}"))
}

#[tokio::test]
async fn a_check_explains_what_is_missing_what_hurts_and_what_cannot_be() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let shell = Shell::at(&api, &system).await;
    let (ops, _caller, _tenant) = caller(&system, &api, &shell).await;
    let admin = system.database.admin().await;
    let tables = "
        CREATE SCHEMA vault; CREATE TABLE vault.coins (tenant text, id bigint PRIMARY KEY, weight numeric, at timestamptz);
        CREATE INDEX ON vault.coins (tenant, at)";
    admin.batch_execute(tables).await.expect("tables");
    let coins = "name = \"coins\"\nsource = \"main\"\ntable = \"vault.coins\"\ntenant_column = \"tenant\"
columns = [\"id\", \"weight\"]\n[filters]\nat = [\"range\"]\nweight = [\"eq\"]\n[orders]\noldest = [\"at\"]\nlightest = [\"weight\"]\n";
    let path = file(&system, "coins.toml", coins);

    let (exit, error) = ops.error(&["dataset", "apply", &path]).await;
    assert_eq!((exit, text(&error, "code")), (4, "dataset-check-failed".to_owned()));
    let hint = text(&error, "hint");
    assert!(
        hint.contains(
            "GRANT USAGE ON SCHEMA vault TO waybill_worker; GRANT SELECT ON vault.coins TO waybill_worker;"
        ),
        "{hint}"
    );
    admin
        .batch_execute(
            "GRANT USAGE ON SCHEMA vault TO waybill_worker; GRANT SELECT ON vault.coins TO waybill_worker",
        )
        .await
        .expect("granted");

    let checked = ops.done(&["dataset", "check", &path]).await;
    let checked = &checked["files"][0];
    let level = |subject: &str| text(about(checked, subject), "level");
    assert_eq!(level("order oldest"), "ok", "its index has the tenant first");
    assert_eq!((level("order lightest"), level("filter weight")), ("warn".to_owned(), "warn".to_owned()));
    assert_eq!(level("filter at"), "ok");
    assert_eq!(level("parquet column weight"), "note", "a numeric without a scale is none of Parquet's");
    assert_eq!(level("source"), "ok");

    let wrong = coins
        .replace("tenant_column = \"tenant\"", "tenant_column = \"id\"")
        .replace("weight = [\"eq\"]", "weight = [\"prefix\"]")
        .replace("\"weight\"]\n[filters]", "\"wait\"]\n[filters]");
    let path = file(&system, "wrong.toml", &wrong);
    let output = ops.run(&["dataset", "check", &path, "--json"]).await;
    assert_eq!(output.status.code(), Some(1));
    let checked: Value = serde_json::from_slice(&output.stdout).expect("an answer in JSON");
    let checked = &checked["files"][0];
    assert_eq!(checked["passes"], false);
    assert!(text(about(checked, "tenant"), "message").contains("id is bigint"), "{checked}");
    assert!(text(about(checked, "column wait"), "message").contains("none of that name"), "{checked}");
    assert!(
        text(about(checked, "filter weight"), "message").contains("cannot be filtered with prefix"),
        "{checked}"
    );
}

#[tokio::test]
async fn what_is_no_file_of_a_data_set_is_refused_with_its_lines() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let shell = Shell::at(&api, &system).await;
    let (ops, _caller, _tenant) = caller(&system, &api, &shell).await;
    let path = file(
        &system,
        "odd.toml",
        "name = \"odd\"\nsauce = \"main\"\ntable = \"source.orders\"\ncolumns = [\"order_id\"]\n",
    );
    let (exit, error) = ops.error(&["dataset", "apply", &path]).await;
    assert_eq!((exit, text(&error, "code")), (4, "dataset-file-invalid".to_owned()));
    let message = text(&error, "message");
    assert!(
        message.contains("line 2: sauce is no key here") && message.contains("tenant_column is required"),
        "{message}"
    );
    let elsewhere = file(&system, "elsewhere.toml", &ORDERS.replace("\"main\"", "\"attic\""));
    assert_eq!(ops.refused(&["dataset", "apply", &elsewhere]).await, (4, "source-unknown".to_owned()));
    assert_eq!(ops.refused(&["dataset", "check", "/nowhere/at/all.toml"]).await, (2, "usage".to_owned()));
}

#[tokio::test]
async fn a_file_is_tried_out_applied_once_and_shown_as_it_was_and_is() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let shell = Shell::at(&api, &system).await;
    let (ops, caller, _tenant) = caller(&system, &api, &shell).await;
    let changed = file(
        &system,
        "orders.toml",
        &ORDERS.replace("description = \"Every order.\"", "description = \"All of them.\""),
    );

    let would = ops.done(&["dataset", "apply", &changed, "--dry-run"]).await;
    assert_eq!(
        (&would["datasets"][0]["revision"], &would["datasets"][0]["applied"]),
        (&1.into(), &false.into())
    );
    assert_eq!(would["datasets"][0]["changes"][0], "~ description: Every order. -> All of them.");
    let applied = ops.done(&["dataset", "apply", &changed]).await;
    assert_eq!(
        (&applied["datasets"][0]["revision"], &applied["datasets"][0]["applied"]),
        (&2.into(), &true.into())
    );
    let again = ops.done(&["dataset", "apply", &changed]).await;
    assert_eq!(
        (&again["datasets"][0]["revision"], &again["datasets"][0]["applied"]),
        (&2.into(), &false.into())
    );

    let listed = ops.done(&["dataset", "list"]).await;
    assert_eq!(text(&listed["datasets"][0], "description"), "All of them.");
    let before = ops.done(&["dataset", "show", "orders", "--revision", "1"]).await;
    assert_eq!(text(&before, "description"), "Every order.");
    assert_eq!(
        ops.refused(&["dataset", "show", "orders", "--revision", "9"]).await,
        (3, "dataset-not-found".to_owned())
    );
    let shown = ops.run(&["dataset", "show", "orders"]).await;
    let shown = String::from_utf8(shown.stdout).expect("UTF-8");
    assert!(shown.starts_with("orders  revision 2\n") && shown.contains("holds every column"), "{shown}");
    assert_eq!(caller.refused(&["dataset", "list"]).await, (4, "scope-missing".to_owned()));
}

#[tokio::test]
async fn an_export_is_asked_for_with_everything_that_can_be_typed_and_shown_with_it() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let _worker = system.start(&["worker"]);
    let shell = Shell::at(&api, &system).await;
    let (_ops, caller, _tenant) = caller(&system, &api, &shell).await;
    let wish = [
        "export",
        "create",
        "orders",
        "--format",
        "csv",
        "--compression",
        "gzip",
        "--option",
        "header=false",
        "--column",
        "order_id",
        "--filter",
        "order_id>=10",
        "--filter",
        "order_id<13",
        "--order",
        "newest",
    ];
    let export_id = text(&caller.done(&wish).await, "export_id");
    caller.done(&["export", "wait", &export_id]).await;
    let shown = caller.run(&["export", "show", &export_id]).await;
    let shown = String::from_utf8(shown.stdout).expect("UTF-8");
    for line in [
        "data set  orders, revision 1",
        "file      csv with gzip of order_id",
        "order     newest",
        "result    3 rows",
        "as of     ",
    ] {
        assert!(shown.contains(line), "{line} is missing in {shown}");
    }
    let folder = system.objects().to_owned();
    caller.done(&["export", "content", &export_id]).await;
    assert!(folder.join(format!("{export_id}.csv.gz")).exists(), "the file has the ending of its format");
    assert_eq!(
        caller.refused(&["export", "create", "orders", "--filter", "order_id=x"]).await,
        (4, "request-unfit".to_owned())
    );
}
