//! What an operator sees of `waybill doctor` before and after something is wrong.

use std::path::Path;

use serde_json::Value;
use tokio::process::Command;
use waybill_testkit::{Bucket, System, Trouble};

/// The exit code and the findings.
async fn doctor(system: &System, config: &Path) -> (i32, Vec<Value>) {
    std::fs::write(config, system.settings().to_toml()).expect("the configuration is written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_waybill"));
    command.args(["doctor", "--json"]).env_clear().env("WAYBILL_CONFIG", config).kill_on_drop(true);
    let output = command.output().await.expect("the binary starts");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("an answer in JSON");
    let findings = answer["findings"].as_array().expect("findings").clone();
    (output.status.code().expect("it ends by itself"), findings)
}

fn about<'a>(findings: &'a [Value], subject: &str) -> &'a Value {
    let found = findings.iter().find(|finding| finding["subject"] == subject);
    found.unwrap_or_else(|| panic!("nothing about {subject} in {findings:#?}"))
}

#[tokio::test]
async fn a_healthy_set_up_passes_before_the_worker_has_made_the_directory_of_its_objects() {
    let system = System::fresh().await;
    let config = system.objects().join("doctor.toml");
    let not_yet = system.objects().join("not yet").join("there");
    let url = format!("file://{}", not_yet.display()).replace(' ', "%20");
    let system = system.with("object_store.url", url);

    let (code, findings) = doctor(&system, &config).await;

    let objects = about(&findings, "object store");
    assert_eq!((code, objects["level"].as_str()), (0, Some("ok")), "{findings:#?}");
    let detail = objects["detail"].as_str().unwrap_or_default();
    assert!(detail.contains(&format!("{} will be made", not_yet.display())), "{detail}");
    assert!(!not_yet.exists(), "doctor makes nothing");
}

#[tokio::test]
async fn a_data_set_that_the_worker_may_not_read_is_named_with_the_grant_to_run() {
    let system = System::fresh().await;
    let config = system.objects().join("doctor.toml");
    let (_, none) = doctor(&system, &config).await;
    assert_eq!(about(&none, "source main")["level"], "ok");
    let api = system.start(&["api"]);
    let operator = system.operator(&api).await;
    system.tenant(&operator, "acme").await;
    let (code, findings) = doctor(&system, &config).await;
    let orders = about(&findings, "data set orders");
    assert_eq!((code, orders["level"].as_str()), (0, Some("warn")), "{findings:#?}");
    let detail = orders["detail"].as_str().unwrap_or_default();
    assert!(detail.contains("order newest: needs a sort") && !detail.contains("by_id"), "{orders}");

    let admin = system.database.admin().await;
    admin.batch_execute("REVOKE SELECT ON source.orders FROM waybill_worker").await.expect("revoked");
    let (code, findings) = doctor(&system, &config).await;
    let orders = about(&findings, "data set orders");
    assert_eq!((code, orders["level"].as_str()), (1, Some("fail")), "{findings:#?}");
    assert_eq!(orders["remedy"], "GRANT SELECT ON source.orders TO waybill_worker;");

    let remedy = orders["remedy"].as_str().expect("a statement");
    admin.batch_execute(remedy).await.expect("the remedy runs as it stands");
    admin.batch_execute("ALTER TABLE source.orders DROP COLUMN note").await.expect("altered");
    let (code, findings) = doctor(&system, &config).await;
    let orders = about(&findings, "data set orders");
    assert_eq!(code, 1);
    assert!(orders["detail"].as_str().is_some_and(|detail| detail.contains("column note")), "{orders}");

    admin.batch_execute("ALTER TABLE source.orders ADD COLUMN note varchar(9)").await.expect("altered");
    let (code, findings) = doctor(&system, &config).await;
    let orders = about(&findings, "data set orders");
    assert_eq!(code, 1);
    assert_eq!(orders["detail"], "note had another type when it was applied");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_is_written_read_listed_and_deleted_from_and_the_first_that_fails_is_named() {
    let bucket = Bucket::fresh(Path::new(env!("CARGO_TARGET_TMPDIR"))).await;
    let system = System::fresh().await;
    let config = system.objects().join("doctor.toml");
    let settings = bucket.settings_table();
    let system = system.with("object_store.url", bucket.url()).with("object_store.settings", settings);
    let (_, findings) = doctor(&system, &config).await;
    let objects = about(&findings, "object store");
    assert_eq!(objects["level"], "ok", "{objects}");

    // More than its client tries.
    bucket.proxy().trouble(Trouble::Unavailable, &["GET", "list-type"], u32::MAX);
    let (code, findings) = doctor(&system, &config).await;
    let objects = about(&findings, "object store");
    assert_eq!((code, objects["level"].as_str()), (1, Some("fail")), "{objects}");
    let detail = objects["detail"].as_str().unwrap_or_default();
    assert!(detail.contains("an object cannot be listed"), "{detail}");
    assert!(!objects.to_string().contains("a-secret-of-a-test"), "{objects}");
}
