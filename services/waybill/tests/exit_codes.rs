//! What a script sees of each way to end.

use std::net::TcpListener;
use std::process::{Command, Output};

use waybill_testkit::{ROLE_PASSWORD, connect, postgres_url};

/// The binary in an empty folder and an empty environment, so that no configuration but the given one is read.
fn waybill(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_waybill"));
    command
        .env_clear()
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .args(arguments)
        .envs(environment.iter().copied());
    command.output().expect("the binary starts")
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("ended by a signal: {output:?}"))
}

/// The error that a command with `--json` prints.
fn error(output: &Output) -> serde_json::Value {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().rfind(|line| line.starts_with("{\"code\"")).unwrap_or_else(|| panic!("{text}"));
    serde_json::from_str(line).expect("an error in JSON")
}

/// An address at which nobody listens: its listener is closed again at once.
fn nowhere() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    format!("postgres://{address}/waybill")
}

#[test]
fn zero_is_done_and_the_answer_is_on_stdout() {
    let output = waybill(&["config", "default"], &[]);
    assert_eq!(code(&output), 0);
    assert!(String::from_utf8_lossy(&output.stdout).contains("[relay]"));
    assert_eq!(code(&waybill(&["--help"], &[])), 0);
    assert_eq!(code(&waybill(&["migrate", "--help"], &[])), 0);
}

#[test]
fn one_is_failed() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = waybill(&["run", "relay", "--json"], &[("WAYBILL_MANAGEMENT__LISTEN", &address)]);
    assert_eq!((code(&output), error(&output)["code"].as_str()), (1, Some("listen-failed")));
}

#[test]
fn two_is_usage_and_so_is_a_configuration_that_cannot_be_meant() {
    assert_eq!(code(&waybill(&["exports"], &[])), 2);
    assert_eq!(code(&waybill(&["run", "everything"], &[])), 2);
    let output = waybill(&["config", "show", "--json"], &[("WAYBILL_RELAY__LEASES_MS", "1")]);
    assert_eq!((code(&output), error(&output)["code"].as_str()), (2, Some("config-unknown-key")));
    let output = waybill(&["migrate", "plan", "--json"], &[]);
    assert_eq!((code(&output), error(&output)["code"].as_str()), (2, Some("database-address-invalid")));
}

#[tokio::test]
async fn four_is_refused_and_a_role_refuses_a_schema_that_was_never_migrated() {
    let name = format!("waybill_test_refused_{}", std::process::id());
    let admin = connect(&postgres_url()).await;
    // The login of the relay may be missing on a new server; whoever is first makes it.
    let login = format!("CREATE ROLE waybill_relay LOGIN PASSWORD '{ROLE_PASSWORD}'");
    let _ = admin.batch_execute(&login).await;
    admin.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE template0")).await.unwrap();
    let server = postgres_url();
    let url = format!("{}/{name}", &server[..server.rfind('/').unwrap()]);
    let output = waybill(
        &["run", "relay", "--json"],
        &[
            ("WAYBILL_POSTGRES_URL", url.as_str()),
            ("WAYBILL_CREDENTIALS__RELAY__PASSWORD", ROLE_PASSWORD),
            ("WAYBILL_MANAGEMENT__LISTEN", "127.0.0.1:0"),
        ],
    );
    admin.batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)")).await.unwrap();
    let error = error(&output);
    assert_eq!((code(&output), error["code"].as_str()), (4, Some("schema-version-unknown")), "{error}");
    assert_eq!(error["hint"], "waybill migrate apply");
}

#[test]
fn five_is_a_dependency_that_cannot_be_reached() {
    let (url, folder) = (nowhere(), format!("file://{}", env!("CARGO_TARGET_TMPDIR")));
    let output = waybill(&["migrate", "plan", "--json"], &[("WAYBILL_POSTGRES_URL", &url)]);
    assert_eq!((code(&output), error(&output)["code"].as_str()), (5, Some("database-unreachable")));
    let environment = [
        ("WAYBILL_POSTGRES_URL", url.as_str()),
        ("WAYBILL_OBJECT_STORE__URL", folder.as_str()),
        ("WAYBILL_KAFKA_BOOTSTRAP", "127.0.0.1:9"),
        ("WAYBILL_KAFKA__SETTINGS__SOCKET_CONNECTION_SETUP_TIMEOUT_MS", "1000"),
    ];
    let output = waybill(&["doctor", "--json"], &environment);
    assert_eq!((code(&output), error(&output)["code"].as_str()), (5, Some("doctor-found-failures")));
    let findings: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let failing =
        findings["findings"].as_array().unwrap().iter().filter(|finding| finding["level"] == "fail");
    assert!(
        failing.clone().count() > 5 && failing.clone().all(|finding| finding["remedy"].is_string()),
        "{findings}"
    );
}

#[test]
fn no_secret_of_the_configuration_is_ever_printed() {
    let environment = [
        ("WAYBILL_POSTGRES_URL", "postgres://admin:hush@db/waybill"),
        ("WAYBILL_CREDENTIALS__API__PASSWORD", "hush"),
        ("WAYBILL_NOTIFIER__SMTP__PASSWORD", "hush"),
        ("WAYBILL_NOTIFIER__WEBHOOK__SIGNING_SECRET", "hush"),
        ("WAYBILL_KAFKA__SETTINGS__SASL_PASSWORD", "hush"),
        ("WAYBILL_KAFKA__SETTINGS__SSL_KEY_PASSWORD", "hush"),
    ];
    for arguments in [["config", "show"].as_slice(), &["config", "show", "--json"]] {
        let output = waybill(arguments, &environment);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(code(&output), 0);
        assert!(text.contains("redacted") && !text.contains("hush"), "{text}");
    }
}
