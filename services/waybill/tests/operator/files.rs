//! The end of exports and of their files from the command line.

use serde_json::{Value, json};
use waybill_testkit::{System, eventually};

use crate::shell::{Shell, caller, text};

#[tokio::test]
async fn an_owner_calls_off_tries_again_and_deletes_from_the_command_line() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let shell = Shell::at(&api, &system).await;
    let (_ops, caller, _tenant) = caller(&system, &api, &shell).await;
    let export_id = text(&caller.done(&["export", "create", "orders"]).await, "export_id");

    let delete = ["export", "delete", &export_id, "--reason", "not needed", "--yes"];
    assert_eq!(caller.refused(&delete).await, (4, "transition-not-allowed".to_owned()));
    let cancel = ["export", "cancel", &export_id, "--reason", "wrong year & slow"];
    let would = caller.done(&[&cancel[..], &["--dry-run"]].concat()).await;
    assert_eq!((&would["state"], &would["before"]["state"]), (&json!("cancelled"), &json!("pending")));
    assert_eq!(caller.done(&["export", "show", &export_id]).await["export"]["state"], "pending");
    for _ in 0..2 {
        assert_eq!(caller.done(&[&cancel[..], &["--yes"]].concat()).await["state"], "cancelled");
    }
    let admin = system.database.admin().await;
    let reason =
        admin.query_one("SELECT reason FROM export.decisions WHERE action = 'export.cancel'", &[]).await;
    assert_eq!(reason.expect("one decision").get::<_, String>(0), "wrong year & slow");
    assert_eq!(
        caller.refused(&["export", "retry", &export_id, "--intent", "again"]).await,
        (4, "transition-not-allowed".to_owned())
    );
    assert_eq!(caller.done(&delete).await["state"], "deleted");
    let content = caller.refused(&["export", "content", &export_id, "--output", "none.csv"]).await;
    assert_eq!(content, (4, "export-deleted".to_owned()));

    admin.batch_execute("ALTER TABLE source.orders RENAME TO elsewhere").await.expect("renamed");
    let failing = text(&caller.done(&["export", "create", "orders"]).await, "export_id");
    let worker = system.start(&["worker"]);
    assert_eq!(caller.error(&["export", "wait", &failing]).await.0, 1, "{}", worker.log().tail());
    let retry = ["export", "retry", &failing, "--intent", "again"];
    let new = caller.done(&retry).await;
    assert_eq!((&new["retry_of"], &new["intent"]), (&json!(failing), &json!("again")));
    assert_eq!(caller.done(&retry).await["export_id"], new["export_id"], "one intent is one export");
}

/// The only object of a list.
fn only(answer: &Value) -> &Value {
    let objects = answer["objects"].as_array().expect("a list");
    assert_eq!(objects.len(), 1, "{answer}");
    &objects[0]
}

#[tokio::test]
async fn an_operator_is_told_what_becomes_of_each_file_and_why() {
    let system = System::fresh().await;
    let house = system.start(&["api", "worker"]);
    let shell = Shell::at(&house, &system).await;
    let (ops, caller, _tenant) = caller(&system, &house, &shell).await;
    let export_id = text(&caller.done(&["export", "create", "orders"]).await, "export_id");
    caller.done(&["export", "wait", &export_id]).await;

    let list = ["object", "list", "--export", &export_id, "--why"];
    let listed = ops.done(&list).await;
    let kept = only(&listed);
    assert_eq!(
        (&kept["state"], &kept["verdict"], &kept["why"]),
        (&json!("selected"), &json!("keep"), &json!("result"))
    );
    assert_eq!(kept["evidence"]["export_state"], "succeeded");
    let drawn = String::from_utf8_lossy(&ops.run(&list).await.stdout).into_owned();
    assert!(drawn.contains("result") && drawn.contains("export_state"), "{drawn}");

    caller.done(&["export", "delete", &export_id, "--reason", "not needed", "--yes"]).await;
    let listed = ops.done(&list).await;
    let waits = only(&listed);
    assert_eq!((&waits["state"], &waits["why"]), (&json!("condemned"), &json!("waits")));
    assert!(
        waits["until"].is_string() && waits["evidence"]["condemned_because"] == "export-deleted",
        "{waits}"
    );
    let dry_run = ["object", "list", "--dry-run"];
    assert_eq!(ops.done(&dry_run).await["objects"], json!([]), "nothing would be done now");
    let aged = "UPDATE export.candidates SET condemned_at = condemned_at - interval '2 hours'";
    system.database.admin().await.batch_execute(aged).await.expect("aged");
    let would = ops.done(&dry_run).await;
    assert_eq!(
        (&only(&would)["verdict"], &only(&would)["why"]),
        (&json!("delete"), &json!("export-deleted"))
    );

    let file = system.objects().join(text(waits, "object_key"));
    assert!(file.exists(), "it was only asked about");
    let stray = system.objects().join("exports/somebody/elses");
    std::fs::create_dir_all(stray.parent().expect("a folder")).expect("it is made");
    std::fs::write(&stray, "?").expect("it is written");
    let _reconciler = system.start(&["reconciler"]);
    eventually("the file to be collected", || async {
        let listed = ops.done(&list).await;
        (only(&listed)["verdict"] == "gone").then_some(())
    })
    .await;
    assert!(!file.exists());
    let unknown = ops.done(&["object", "list", "--unknown"]).await;
    assert_eq!(only(&unknown)["object_key"], "exports/somebody/elses");
    assert!(stray.exists(), "nobody deletes what no row knows");
    assert_eq!(caller.refused(&["object", "list"]).await, (4, "scope-missing".to_owned()));
}
