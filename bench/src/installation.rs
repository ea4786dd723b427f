//! Waybill on the bench's stack: its configuration, its migrations, its processes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use nix::sys::signal::Signal;
use toml::{Table, Value};
use waybill_devstack::{ServiceFile, Undertaking};

use crate::processor;
use crate::stack::Stack;

/// The database that everything of it lies in.
pub(crate) const DATABASE: &str = "waybill";

/// Every login's. The servers are gone with the run.
pub(crate) const PASSWORD: &str = "bench";

/// A migration makes a login for each.
const ROLES: [&str; 7] = ["api", "relay", "worker", "search", "stats", "notifier", "reconciler"];

/// The `waybill` that is measured, with the defaults, apart from addresses and from what lets a webhook leave for this machine:
/// what is measured is what an installation gets.
#[derive(Debug)]
pub(crate) struct Installation<'run> {
    binary: PathBuf,
    config: PathBuf,
    undertaking: &'run Undertaking,
}

impl<'run> Installation<'run> {
    /// Configures it on the stack and applies its migrations.
    pub(crate) fn new(stack: &Stack, undertaking: &'run Undertaking, binary: &Path) -> Result<Self> {
        let config = stack.dir().join("waybill.toml");
        fs::write(&config, configuration(stack)?.to_string())
            .with_context(|| format!("cannot write {}", config.display()))?;
        let installation = Self { binary: binary.to_owned(), config, undertaking };
        installation.run(&["migrate", "apply"])?;
        Ok(installation)
    }

    /// Runs one of its commands, and gives what it says.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<String> {
        let mut command = self.command();
        Ok(self.undertaking.run(command.args(arguments), "waybill", "is it built?")?)
    }

    /// What one of its commands says as JSON.
    pub(crate) fn ask(&self, arguments: &[&str]) -> Result<serde_json::Value> {
        let said = self.run(&[arguments, &["--json"]].concat())?;
        serde_json::from_str(&said).with_context(|| format!("{} said no JSON", arguments.join(" ")))
    }

    /// Starts these roles as a process of their own, which is watched from `management`.
    pub(crate) fn start(&self, service: ServiceFile, roles: &[&str], management: u16) -> Result<Started> {
        let mut command = self.command();
        command.arg("run").args(roles).env("WAYBILL_MANAGEMENT__LISTEN", format!("127.0.0.1:{management}"));
        let running = self.undertaking.start(&mut command, &service, Signal::SIGTERM)?;
        Ok(Started { pid: running.pid, service })
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

/// A process that runs.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) pid: i32,
    service: ServiceFile,
}

impl Started {
    /// Ends it, and gives the most memory in bytes that it ever had resident, where the system tells.
    pub(crate) fn stop(self) -> Result<Option<u64>> {
        let peak = processor::peak_resident_bytes(self.pid);
        self.service.stop()?;
        Ok(peak)
    }

    /// Whether it still runs, and what it said last.
    pub(crate) fn check(&self) -> Result<()> {
        let ended = || format!("it ended. The end of its log:\n{}", self.service.tail(15));
        self.service.running().map(drop).with_context(ended)
    }
}

fn configuration(stack: &Stack) -> Result<Table> {
    let admin = stack.database_url(DATABASE);
    let (scheme, address) = (admin.find("://"), admin.rfind('@'));
    let (scheme, address) = scheme.zip(address).context("the administrator's URL has no user")?;
    let plain = format!("{}{}", &admin[..scheme + 3], &admin[address + 1..]);
    let logins = ROLES.map(|role| (role, table([("password", PASSWORD.into())])));
    let objects = format!("file://{}", stack.objects().display());
    let listen = |name| -> Result<Value> { Ok(format!("127.0.0.1:{}", stack.port(name)?).into()) };
    let webhook = table([("signing_secret", PASSWORD.into()), ("allow_private_networks", true.into())]);
    let source = table([("url", plain.as_str().into())]);
    Ok(Table::from_iter([
        ("admin".to_owned(), table([("postgres_url", admin.as_str().into())])),
        ("database".to_owned(), table([("export", table([("url", plain.as_str().into())]))])),
        ("sources".to_owned(), table([("shop", source)])),
        ("credentials".to_owned(), table(logins)),
        ("kafka".to_owned(), table([("bootstrap", stack.bootstrap().into())])),
        ("object_store".to_owned(), table([("url", objects.into())])),
        ("management".to_owned(), table([("listen", listen("management")?)])),
        ("api".to_owned(), table([("listen", listen("api")?)])),
        ("notifier".to_owned(), table([("webhook", webhook)])),
    ]))
}

fn table<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Table(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}
