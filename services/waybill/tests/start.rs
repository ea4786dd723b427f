//! How a role begins with a database that is away, and ends with settings that it cannot use.

use std::net::TcpListener;
use std::process::Command;

use serde_json::Value;
use waybill_testkit::{ROLE_PASSWORD, System, TestDatabase, eventually};

/// What `waybill run ROLE` ends with: the exit code and the error.
fn ended(database: &TestDatabase, role: &str, setting: (&str, &str)) -> (i32, Value) {
    let password = format!("WAYBILL_CREDENTIALS__{}__PASSWORD", role.to_uppercase());
    let mut command = Command::new(env!("CARGO_BIN_EXE_waybill"));
    command
        .args(["run", role, "--json"])
        .env_clear()
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .env("WAYBILL_POSTGRES_URL", database.admin_url())
        .env("WAYBILL_MANAGEMENT__LISTEN", "127.0.0.1:0")
        .env("WAYBILL_API__LISTEN", "127.0.0.1:0")
        .env("WAYBILL_OBJECT_STORE__URL", format!("file://{}/objects", env!("CARGO_TARGET_TMPDIR")))
        .env(password, ROLE_PASSWORD)
        .env(setting.0, setting.1);
    let output = command.output().expect("the binary starts");
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().rfind(|line| line.starts_with("{\"code\"")).unwrap_or_else(|| panic!("{text}"));
    let code = output.status.code().unwrap_or_else(|| panic!("ended by a signal: {text}"));
    (code, serde_json::from_str(line).expect("an error in JSON"))
}

#[tokio::test]
async fn a_setting_that_a_role_cannot_use_ends_it_with_a_code_of_its_own() {
    let database = TestDatabase::fresh().await;
    let misspelt = ("WAYBILL_KAFKA__SETTINGS__FETCH_WAIT_MAX_MSS", "1");
    let no_store = ("WAYBILL_OBJECT_STORE__URL", "ftp://host/objects");
    let no_source = ("WAYBILL_DEPLOYMENT__SOURCE", "");
    let no_topic = ("WAYBILL_KAFKA__TOPIC_PREFIX", "not a topic/");
    for (role, setting, code) in [
        ("worker", no_store, "object-store-url-invalid"),
        ("api", no_store, "object-store-url-invalid"),
        ("api", no_source, "deployment-source-invalid"),
        ("reconciler", no_source, "deployment-source-invalid"),
        ("reconciler", no_topic, "topic-prefix-invalid"),
        ("relay", misspelt, "relay-producer-settings"),
        ("search", misspelt, "consumer-settings"),
        ("notifier", misspelt, "consumer-settings"),
        ("worker", ("WAYBILL_WORKER__SLOTS", "4"), "config-contradiction"),
        ("relay", ("WAYBILL_RELAY__COMPRESSION", "lz5"), "config-invalid-value"),
    ] {
        let (exit, error) = ended(&database, role, setting);
        assert_eq!((exit, error["code"].as_str()), (2, Some(code)), "{role}: {error}");
        assert!(error["hint"].is_string(), "{role}: {error}");
    }
}

#[tokio::test]
async fn the_api_accepts_exports_while_the_database_of_search_is_away() {
    // A port that nobody listens on any more.
    let closed = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
    let system = System::fresh().await.with("database.search.url", format!("postgres://{closed}/search"));
    let api = system.start(&["api"]);
    let operator = system.operator(&api).await;
    let caller = system.tenant(&operator, "a tenant").await;

    caller.export("intent-1").await;
    let found = caller.get("/v1/search?q=orders").await;
    assert_eq!((found.status.as_u16(), found.code().as_str()), (503, "database-unavailable"));
    caller.get("/v1/stats").await.success();

    let management = api.listening("management").await;
    let page = operator.at(format!("http://{management}").parse().expect("an address"));
    eventually("the health page says so", async || {
        let ready = page.get("/readyz").await;
        assert_eq!(ready.status.as_u16(), 200, "{}", ready.json());
        let reasons = ready.json()["reasons"].as_array().cloned().unwrap_or_default();
        reasons.into_iter().find(|reason| {
            reason["component"] == "database search"
                && reason["severity"] == "degraded"
                && reason["code"] == "database-unreachable"
        })
    })
    .await;
}

#[tokio::test]
async fn the_api_reads_nothing_from_a_schema_of_another_version() {
    let system = System::fresh().await;
    let admin = system.database.admin().await;
    let newer = "INSERT INTO search.schema_history (version, name, applied_on, checksum) VALUES (1000, 'later', '', '0')";
    admin.batch_execute(newer).await.expect("a version of later");
    let api = system.start(&["api"]);
    let operator = system.operator(&api).await;
    let caller = system.tenant(&operator, "a tenant").await;

    caller.export("intent-1").await;
    let found = caller.get("/v1/search?q=orders").await;
    assert_eq!((found.status.as_u16(), found.code().as_str()), (503, "database-unavailable"));

    admin.batch_execute("DELETE FROM search.schema_history WHERE version = 1000").await.expect("taken back");
    caller.get("/v1/search?q=orders").await.success();
}
