//! Waybill's side: its configuration, its migrations, its relay as a process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use nix::sys::signal::Signal;
use toml::{Table, Value};
use waybill_devstack::{ServiceFile, Undertaking};

use crate::processor;
use crate::stack::Stack;

/// The database that the outbox lies in.
pub(crate) const DATABASE: &str = "waybill";

/// A migration makes a login for each.
const ROLES: [&str; 7] = ["api", "relay", "worker", "search", "stats", "notifier", "reconciler"];

/// What of `[relay]` its producer is made with, and librdkafka's name for it.
const PRODUCER_SETTINGS: [(&str, &str); 3] =
    [("linger_ms", "linger.ms"), ("batch_bytes_max", "batch.size"), ("compression", "compression.type")];

/// The `waybill` that is measured.
#[derive(Debug)]
pub(crate) struct Waybill<'run> {
    binary: PathBuf,
    config: PathBuf,
    service: ServiceFile,
    undertaking: &'run Undertaking,
}

impl<'run> Waybill<'run> {
    /// Configures it on the stack and applies its migrations.
    pub(crate) fn install(stack: &Stack, undertaking: &'run Undertaking, binary: &Path) -> Result<Self> {
        let config = stack.dir().join("waybill.toml");
        fs::write(&config, configuration(stack)?.to_string())
            .with_context(|| format!("cannot write {}", config.display()))?;
        let waybill =
            Self { binary: binary.to_owned(), config, service: stack.service("relay"), undertaking };
        undertaking.run(waybill.command().args(["migrate", "apply"]), "waybill", "is it built?")?;
        Ok(waybill)
    }

    /// What the relay's producer is configured with, under librdkafka's names.
    pub(crate) fn producer_settings(&self) -> Result<Vec<(&'static str, String)>> {
        let mut command = self.command();
        let shown =
            self.undertaking.run(command.args(["config", "show", "--json"]), "waybill", "is it built?")?;
        let shown: serde_json::Value =
            serde_json::from_str(&shown).context("the configuration is no JSON")?;
        let setting = |(ours, theirs): (&'static str, &'static str)| {
            let value = &shown["relay"][ours];
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            (!value.is_null())
                .then_some((theirs, text))
                .with_context(|| format!("no relay.{ours} is configured"))
        };
        PRODUCER_SETTINGS.into_iter().map(setting).collect()
    }

    /// Starts the relay as a process of its own.
    pub(crate) fn start_relay(&self) -> Result<Relay> {
        let mut command = self.command();
        command.args(["run", "relay"]);
        let running = self.undertaking.start(&mut command, &self.service, Signal::SIGTERM)?;
        Ok(Relay { pid: running.pid, service: self.service.clone() })
    }

    /// With the bench's configuration and nobody else's: a variable of the person's shell would win over the file.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("WAYBILL_") {
                command.env_remove(name);
            }
        }
        command.env("WAYBILL_CONFIG", &self.config);
        command
    }
}

/// A relay that runs.
#[derive(Debug)]
pub(crate) struct Relay {
    pub(crate) pid: i32,
    service: ServiceFile,
}

impl Relay {
    /// Ends it, and gives the most memory in bytes that it ever had resident, where the system tells.
    pub(crate) fn stop(self) -> Result<Option<u64>> {
        let peak = processor::peak_resident_bytes(self.pid);
        self.service.stop()?;
        Ok(peak)
    }

    /// Whether it still runs, and what it said last.
    pub(crate) fn check(&self) -> Result<()> {
        let ended = || format!("the relay ended. The end of its log:\n{}", self.service.tail(15));
        self.service.running().map(drop).with_context(ended)
    }
}

/// The defaults, apart from addresses: what is measured is what an installation gets.
fn configuration(stack: &Stack) -> Result<Table> {
    let admin = stack.database_url(DATABASE);
    let (scheme, address) = (admin.find("://"), admin.rfind('@'));
    let (scheme, address) = scheme.zip(address).context("the administrator's URL has no user")?;
    let plain = format!("{}{}", &admin[..scheme + 3], &admin[address + 1..]);
    let logins = ROLES.map(|role| (role, table([("password", "bench".into())])));
    let objects = format!("file://{}", stack.dir().join("objects").display());
    let listen = |name| -> Result<Value> { Ok(format!("127.0.0.1:{}", stack.port(name)?).into()) };
    Ok(Table::from_iter([
        ("admin".to_owned(), table([("postgres_url", admin.as_str().into())])),
        ("database".to_owned(), table([("export", table([("url", plain.into())]))])),
        ("credentials".to_owned(), table(logins)),
        ("kafka".to_owned(), table([("bootstrap", stack.bootstrap().into())])),
        ("object_store".to_owned(), table([("url", objects.into())])),
        ("management".to_owned(), table([("listen", listen("management")?)])),
        ("api".to_owned(), table([("listen", listen("api")?)])),
    ]))
}

fn table<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Table(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}
