//! Waybill itself on the clone's infrastructure: its configuration, its migrations, its process.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use nix::sys::signal::Signal;
use serde_json::Value;
use sha2::{Digest, Sha256};
use toml::{Table, Value as Toml};
use waybill_devstack::{
    Credentials, Durability, Ports, ServiceFile, Undertaking, http_get, wait_ready, without_user,
};

use crate::binary;
use crate::console::Console;
use crate::infrastructure::Infrastructure;
use crate::place::Place;

const ROLES: [&str; 7] = ["api", "relay", "worker", "search", "stats", "notifier", "reconciler"];

/// The whole system, running.
#[derive(Debug)]
pub(crate) struct System {
    pub(crate) infrastructure: Infrastructure,
    pub(crate) api_url: String,
    pub(crate) management_url: String,
}

impl System {
    /// Brings everything up, or finds that it is.
    pub(crate) fn up(place: &Place, undertaking: &Undertaking, console: &Console) -> Result<Self> {
        let infrastructure = Infrastructure::start(place, undertaking, console, Durability::Durable)?;
        let mut changed = binary::provide(undertaking, console, &place.binary())?;
        infrastructure.wait_ready(place, console)?;
        let service = ServiceFile::of(&place.layout, "waybill");
        let (config, api_port, management_port) = configure(place, &infrastructure, &service)?;
        changed |= write_if_changed(&place.config(), &config)?;
        apply(place, undertaking, console)?;
        start(place, undertaking, console, &service, changed, [api_port, management_port])?;
        let url = |port| format!("http://127.0.0.1:{port}");
        Ok(Self { infrastructure, api_url: url(api_port), management_url: url(management_port) })
    }
}

/// Migrations first: binding the consumers to their topics needs the tables.
fn apply(place: &Place, undertaking: &Undertaking, console: &Console) -> Result<()> {
    console.step("Apply migrations", |_| {
        let report = answer(undertaking, waybill(place).args(["migrate", "apply", "--json"])).context(
            "the migrations do not apply. If one was edited since, `./dev reset` starts from nothing",
        )?;
        let schemas = report["databases"].as_array().into_iter().flatten();
        let schemas = schemas.flat_map(|database| database["schemas"].as_array().into_iter().flatten());
        let applied: usize = schemas.filter_map(|schema| schema["pending"].as_array()).map(Vec::len).sum();
        Ok(((), if applied == 0 { "nothing to do".to_owned() } else { format!("{applied} applied") }))
    })?;
    console.step("Apply topics", |_| {
        let report = answer(undertaking, waybill(place).args(["topic", "apply", "--json"]))?;
        let topics = report["topics"].as_array().into_iter().flatten();
        let said: Vec<&str> = topics.filter_map(|topic| topic["topic"].as_str()).collect();
        Ok(((), said.join(", ")))
    })
}

/// What `waybill` answers on standard output, as JSON.
pub(crate) fn answer(undertaking: &Undertaking, command: &mut Command) -> Result<Value> {
    let output = undertaking.run(command, "waybill", "is it built?")?;
    serde_json::from_str(&output).context("waybill's answer is no JSON")
}

/// `waybill` with this clone's configuration and nobody else's: a variable of the person's own shell would win over
/// the file.
pub(crate) fn waybill(place: &Place) -> Command {
    let mut command = Command::new(place.binary());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("WAYBILL_") {
            command.env_remove(name);
        }
    }
    command.env("WAYBILL_CONFIG", place.config());
    command
}

/// Starts all roles in one process, again if its binary or its configuration is another one now.
fn start(
    place: &Place,
    undertaking: &Undertaking,
    console: &Console,
    service: &ServiceFile,
    changed: bool,
    [api_port, management_port]: [u16; 2],
) -> Result<()> {
    console.step("Start Waybill", |_| {
        if changed {
            service.stop()?;
        }
        let runs = service.running().is_some();
        if !runs {
            let mut command = waybill(place);
            command.arg("up").current_dir(place.root());
            undertaking.start(&mut command, service, Signal::SIGTERM)?;
        }
        wait_ready(service, || {
            let begun = http_get(management_port, "/readyz")
                .is_ok_and(|(status, body)| status == 200 && is_ready(&body));
            // Whatever the api says to somebody without a key, it then listens.
            begun && http_get(api_port, "/v1/datasets").is_ok()
        })?;
        let said = if runs { "it runs".to_owned() } else { format!("all of {} roles ready", ROLES.len()) };
        Ok(((), said))
    })
}

/// A role that only looks for its servers has not started yet. Anything else that is wrong is for `./dev status`.
fn is_ready(body: &str) -> bool {
    let Ok(report) = serde_json::from_str::<Value>(body) else { return false };
    let mut reasons = report["reasons"].as_array().into_iter().flatten();
    !reasons.any(|reason| reason["code"] == "role-starting")
}

/// The configuration, and the ports of the api and of the management listener.
fn configure(
    place: &Place,
    infrastructure: &Infrastructure,
    service: &ServiceFile,
) -> Result<(String, u16, u16)> {
    let mut ports = Ports::load(&place.layout)?;
    let runs = service.running().is_some();
    let mut port_of = |name| ports.get(name).filter(|_| runs).map_or_else(|| ports.take(name), Ok);
    let (api_port, management_port) = (port_of("api")?, port_of("management")?);
    let mut credentials = Credentials::load(&place.layout)?;
    let objects = place.layout.dir().join("objects");
    fs::create_dir_all(&objects)?;

    let mut logins = Table::new();
    for role in ROLES {
        logins
            .insert(role.into(), table([("password", role_password(place, &mut credentials, role)?.into())]));
    }
    let smtp = table([
        ("host", "127.0.0.1".into()),
        ("port", i64::from(infrastructure.mail.smtp_port()).into()),
        ("tls", "none".into()),
    ]);
    // The demo's receiver listens on loopback.
    let webhook = table([
        ("signing_secret", signing_secret(&mut credentials)?.into()),
        ("allow_private_networks", true.into()),
    ]);
    let database = table([("url", without_user(&infrastructure.admin_url).as_str().into())]);
    let config = Table::from_iter([
        // For the commands that a person types. `up` itself never uses it.
        ("admin".to_owned(), table([("postgres_url", infrastructure.admin_url.as_str().into())])),
        ("database".to_owned(), table([("export", database.clone())])),
        // The demo's orders lie beside everything else.
        ("sources".to_owned(), table([("demo", database)])),
        ("credentials".to_owned(), Toml::Table(logins)),
        (
            "kafka".to_owned(),
            table([
                ("bootstrap", infrastructure.bootstrap.as_str().into()),
                ("topic_prefix", place.topic_prefix().into()),
            ]),
        ),
        ("object_store".to_owned(), table([("url", format!("file://{}", objects.display()).into())])),
        ("management".to_owned(), table([("listen", format!("127.0.0.1:{management_port}").into())])),
        ("api".to_owned(), table([("listen", format!("127.0.0.1:{api_port}").into())])),
        ("notifier".to_owned(), table([("smtp", smtp), ("webhook", webhook)])),
        ("telemetry".to_owned(), table([("format", "pretty".into())])),
    ]);
    let header = "# Written by ./dev up: an edit is lost with the next one.\n\n";
    Ok((format!("{header}{config}"), api_port, management_port))
}

fn table<const N: usize>(entries: [(&str, Toml); N]) -> Toml {
    Toml::Table(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// The password of a role's login. Logins belong to the whole server, so on one that clones share they must all come
/// to the same: it then follows from what they all know, the administrator's URL.
fn role_password(place: &Place, credentials: &mut Credentials, role: &str) -> Result<String> {
    let Some(external) = &place.external else {
        return Ok(credentials.get_or_make(&format!("waybill_{role}"))?);
    };
    let digest = Sha256::digest(format!("{}\0waybill_{role}", external.postgres_url));
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Writes a file that holds secrets. Gives whether it is another one than before.
pub(crate) fn write_if_changed(path: &Path, text: &str) -> Result<bool> {
    if fs::read_to_string(path).is_ok_and(|before| before == text) {
        return Ok(false);
    }
    let partial = path.with_extension("partial");
    let mut file = File::options().create(true).write(true).truncate(true).mode(0o600).open(&partial)?;
    file.write_all(text.as_bytes())?;
    fs::rename(&partial, path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(true)
}

/// The deployment's key for webhooks, from which each tenant's follows.
pub(crate) fn signing_secret(credentials: &mut Credentials) -> Result<String> {
    let secret = credentials.get_or_make("webhook")?;
    Ok(format!("whsec_{}", STANDARD.encode(secret)))
}
