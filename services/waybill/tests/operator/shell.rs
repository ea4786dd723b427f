//! Whoever types the commands.

use std::path::PathBuf;
use std::process::Output;

use serde_json::Value;
use tokio::process::Command;
use waybill_testkit::{Caller, Process, System, base_url};

/// Somebody at a terminal, with the address and the key in the environment.
pub(crate) struct Shell {
    url: String,
    key: String,
    config: PathBuf,
}

impl Shell {
    pub(crate) async fn at(api: &Process, system: &System) -> Self {
        Self { url: base_url(api).await.to_string(), ..Self::without_api(system) }
    }

    /// Where no api is needed: it would be found nowhere, and no key is known.
    pub(crate) fn without_api(system: &System) -> Self {
        let config = system.objects().join("shell.toml");
        std::fs::write(&config, system.settings().to_toml()).expect("the configuration is written");
        Self { url: "http://127.0.0.1:1".to_owned(), key: String::new(), config }
    }

    pub(crate) fn with_key(&self, key: &str) -> Self {
        Self { url: self.url.clone(), key: key.to_owned(), config: self.config.clone() }
    }

    /// The public half of the key.
    pub(crate) fn key_id(&self) -> String {
        format!("key_{}", self.key.split('_').nth(1).expect("a key"))
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_waybill"));
        command.args(arguments).current_dir(self.config.parent().expect("a folder")).kill_on_drop(true);
        command.env("WAYBILL_API_URL", &self.url).env("WAYBILL_API_KEY", &self.key);
        command.env("WAYBILL_CONFIG", &self.config).env_remove("WAYBILL_OUTBOX_DATABASE_URL");
        command
    }

    pub(crate) async fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().await.expect("the binary starts")
    }

    /// The JSON that a command answers.
    pub(crate) async fn done(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--json"]].concat()).await;
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {said}");
        serde_json::from_slice(&output.stdout).expect("an answer in JSON")
    }

    /// The exit code and the slug of a command that is not done.
    pub(crate) async fn refused(&self, arguments: &[&str]) -> (i32, String) {
        let (exit, error) = self.error(arguments).await;
        (exit, text(&error, "code"))
    }

    /// The exit code of a command that is not done, and all that it says about it.
    pub(crate) async fn error(&self, arguments: &[&str]) -> (i32, Value) {
        let output = self.run(&[arguments, &["--json"]].concat()).await;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let line =
            said.lines().rfind(|line| line.starts_with("{\"code\"")).unwrap_or_else(|| panic!("{said}"));
        (output.status.code().unwrap_or(-1), serde_json::from_str(line).expect("an error in JSON"))
    }
}

pub(crate) fn text(value: &Value, member: &str) -> String {
    value[member].as_str().unwrap_or_else(|| panic!("no {member} in {value}")).to_owned()
}

/// A key for a tenant that owns orders, made from the command line.
pub(crate) async fn caller(system: &System, api: &Process, shell: &Shell) -> (Shell, Shell, Caller) {
    let operator = system.operator(api).await;
    assert_eq!(shell.refused(&["api-key", "create", "--first"]).await, (4, "operator-key-exists".to_owned()));
    let ops = shell.done(&["api-key", "create", "--first", "--yes"]).await;
    let ops = shell.with_key(&text(&ops, "api_key"));
    let tenant = system.tenant(&operator, "acme").await;
    let account = ops.done(&["service-account", "create", "nightly", "--tenant", tenant.tenant_id()]).await;
    let account = text(&account, "service_account_id");
    let scopes = ["--scope", "exports:read", "--scope", "exports:write"];
    let key = ops.done(&[&["api-key", "create", &account][..], &scopes[..]].concat()).await;
    let caller = shell.with_key(&text(&key, "api_key"));
    (ops, caller, tenant)
}
