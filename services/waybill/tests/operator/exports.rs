//! An export from the command line, and each way in which a command is not done.

use std::process::Stdio;

use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::io::{AsyncBufReadExt, BufReader};
use waybill_testkit::{ROWS_OF_TENANT, System};

use crate::shell::{Shell, caller, text};

const ABSENT: &str = "exp_00000000000000000000000000000000";

#[tokio::test]
async fn an_export_is_asked_for_followed_and_fetched_from_the_command_line() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let _rest = system.start(&["relay", "worker", "search", "stats", "notifier", "reconciler"]);
    let shell = Shell::at(&api, &system).await;
    let (_ops, caller, _tenant) = caller(&system, &api, &shell).await;

    let asked = ["export", "create", "orders", "--intent", "nightly-1", "--name", "訂單"];
    let export_id = text(&caller.done(&asked).await, "export_id");
    assert_eq!(text(&caller.done(&asked).await, "export_id"), export_id, "one intent is one export");
    let other = ["export", "create", "orders", "--intent", "nightly-1", "--name", "another"];
    assert_eq!(caller.refused(&other).await, (4, "intent-mismatch".to_owned()));

    let ended = caller.done(&["export", "wait", &export_id, "--timeout", "60"]).await;
    assert_eq!(ended["result"]["rows"], ROWS_OF_TENANT);

    let got = caller.done(&["export", "content", &export_id, "--output", "orders.csv"]).await;
    let file = std::fs::read(system.objects().join("orders.csv")).expect("the file");
    let sha256: String = Sha256::digest(&file).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!((&got["sha256"], &ended["result"]["sha256"]), (&sha256.clone().into(), &sha256.into()));

    let drawn = caller.run(&["export", "show", &export_id]).await;
    let drawn = String::from_utf8_lossy(&drawn.stdout).into_owned();
    for step in ["command acknowledged", "claimed", "candidate verified", "result selected"] {
        assert!(drawn.contains(step), "{drawn}");
    }
}

#[tokio::test]
async fn an_intent_that_was_chosen_for_the_caller_is_told_with_the_answer_and_with_its_loss() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let shell = Shell::at(&api, &system).await;
    let (_ops, caller, _tenant) = caller(&system, &api, &shell).await;

    let asked = caller.done(&["export", "create", "orders"]).await;
    let intent = text(&asked, "intent");
    let again = caller.done(&["export", "create", "orders", "--intent", &intent]).await;
    assert_eq!(again["export_id"], asked["export_id"]);

    drop(api);
    let lost = caller.run(&["export", "create", "orders", "--json"]).await;
    let error: Value = serde_json::from_slice(&lost.stderr).expect("an error in JSON");
    let resend = format!("resend with --intent {}", text(&error, "intent"));
    assert_eq!(lost.status.code(), Some(5));
    assert!(text(&error, "hint").contains(&resend), "{error}");
    let lost = caller.run(&["export", "create", "orders"]).await;
    assert!(String::from_utf8_lossy(&lost.stderr).contains("resend with --intent "), "{lost:?}");
}

#[tokio::test]
async fn a_wait_outlasts_an_api_that_is_replaced_and_says_so_once() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let shell = Shell::at(&api, &system).await;
    let (_ops, caller, _tenant) = caller(&system, &api, &shell).await;
    let export_id = text(&caller.done(&["export", "create", "orders"]).await, "export_id");
    let address = api.listening("api").await.to_string();
    drop(api);

    let mut waiting = caller.command(&["export", "wait", &export_id, "--timeout", "60"]);
    let mut waiting =
        waiting.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("the binary starts");
    let mut said = BufReader::new(waiting.stderr.take().expect("its stderr")).lines();
    let first = said.next_line().await.expect("a line").expect("a line");
    assert!(first.contains("looking on"), "{first}");
    let system = system.with("api.listen", address);
    let _house = system.start(&["api", "relay", "worker"]);

    assert_eq!(waiting.wait().await.expect("it ends").code(), Some(0));
    while let Some(line) = said.next_line().await.expect("its lines") {
        assert!(!line.contains("looking on"), "said for the second time: {line}");
    }
}

#[tokio::test]
async fn a_file_that_is_not_what_was_verified_never_appears_under_its_name() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let _rest = system.start(&["relay", "worker"]);
    let shell = Shell::at(&api, &system).await;
    let (_ops, caller, _tenant) = caller(&system, &api, &shell).await;
    let export_id = text(&caller.done(&["export", "create", "orders"]).await, "export_id");
    caller.done(&["export", "wait", &export_id, "--timeout", "60"]).await;
    let sql = "SELECT object_key, bytes FROM export.candidates WHERE export_id = $1 AND state = 'selected'";
    let selected = system.database.admin().await.query_one(sql, &[&export_id]).await.expect("a result");
    let object = system.objects().join(selected.get::<_, &str>("object_key"));
    let zeros = vec![0; usize::try_from(selected.get::<_, i64>("bytes")).expect("a size")];
    std::fs::write(&object, zeros).expect("the object is overwritten");

    let content = ["export", "content", &export_id, "--output", "orders.csv"];
    assert_eq!(
        caller.refused(&content).await,
        (5, "api-unreachable".to_owned()),
        "broken off before its end"
    );
    std::fs::remove_file(&object).expect("the object is removed");
    assert_eq!(caller.refused(&content).await, (1, "result-missing".to_owned()));

    let left: Vec<_> = std::fs::read_dir(system.objects())
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name())
        .filter(|name| name.to_string_lossy().contains("orders.csv"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn each_refusal_of_the_api_has_its_exit_code() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let shell = Shell::at(&api, &system).await;
    assert_eq!(shell.refused(&["tenant", "list"]).await, (2, "api-key-missing".to_owned()));
    let (ops, caller, tenant) = caller(&system, &api, &shell).await;

    assert_eq!(caller.refused(&["export", "show", ABSENT]).await, (3, "export-not-found".to_owned()));
    assert_eq!(caller.refused(&["export", "create", "nothing"]).await, (3, "dataset-not-found".to_owned()));
    assert_eq!(caller.refused(&["tenant", "list"]).await, (4, "scope-missing".to_owned()));
    assert_eq!(ops.refused(&["export", "show", ABSENT]).await, (3, "export-not-found".to_owned()));
    assert_eq!(ops.refused(&["export", "wait", ABSENT]).await, (4, "scope-missing".to_owned()));
    let pending = text(&caller.done(&["export", "create", "orders"]).await, "export_id");
    assert_eq!(caller.refused(&["export", "content", &pending]).await, (4, "export-not-ready".to_owned()));
    let release = ["export", "release", &pending, "--reason", "a test"];
    assert_eq!(ops.refused(&release).await, (4, "transition-not-allowed".to_owned()));
    let wait = ["export", "wait", &pending, "--timeout", "1"];
    assert_eq!(caller.refused(&wait).await, (1, "wait-timed-out".to_owned()));

    ops.done(&["tenant", "suspend", tenant.tenant_id(), "--reason", "a test"]).await;
    assert_eq!(caller.refused(&["export", "show", &pending]).await, (4, "tenant-suspended".to_owned()));
    drop(api);
    assert_eq!(ops.refused(&["tenant", "list"]).await, (5, "api-unreachable".to_owned()));
}
