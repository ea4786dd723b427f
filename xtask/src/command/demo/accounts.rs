//! Who takes part in the demo: an operator and three tenants, made through Waybill's own commands and then remembered.

use anyhow::{Context, Result};
use serde_json::Value;
use waybill_devstack::{Credentials, Undertaking};

use crate::console::Console;
use crate::place::Place;
use crate::system::{System, answer, waybill};

/// Who owns the orders. The first one asks for the export.
pub(super) const TENANTS: [&str; 3] = ["acme", "初音商店", "globex"];

/// What the demo exports from.
const DATASET_FILE: &str = "ops/dev/datasets/orders.toml";

/// The participants.
#[derive(Debug)]
pub(super) struct Accounts {
    /// Of each of [`TENANTS`].
    pub(super) tenants: Vec<String>,
    /// The key of the first tenant's service account.
    pub(super) api_key: String,
    /// What the first tenant's webhook receivers check signatures with.
    pub(super) webhook_secret: String,
    ops_key: String,
}

/// Runs `waybill NOUN VERB … --json` as the operator.
struct Operator<'a> {
    place: &'a Place,
    undertaking: &'a Undertaking,
    api_url: &'a str,
    key: String,
}

impl Accounts {
    /// Makes who is not there yet.
    pub(super) fn make(
        place: &Place,
        undertaking: &Undertaking,
        console: &Console,
        system: &System,
    ) -> Result<Self> {
        console.step("Make tenants, service accounts and keys", |_| {
            let mut credentials = Credentials::load(&place.layout)?;
            let mut operator = Operator { place, undertaking, api_url: &system.api_url, key: String::new() };
            operator.key = kept(&mut credentials, "ops_api_key", || {
                // Also when there is one already: it may belong to a demo that broke off before it was kept.
                operator.made(&["api-key", "create", "--first", "--yes"], "api_key")
            })?;
            let mut tenants = Vec::new();
            for name in TENANTS {
                tenants.push(kept(&mut credentials, &format!("tenant {name}"), || operator.tenant(name))?);
            }
            let account = kept(&mut credentials, "demo service account", || {
                let name = format!("demo-{:08x}", rand::random::<u32>());
                let arguments = ["service-account", "create", &name, "--tenant", &tenants[0]];
                operator.made(&arguments, "service_account_id")
            })?;
            let api_key = kept(&mut credentials, "demo_api_key", || {
                let scopes = ["--scope", "exports:read", "--scope", "exports:write"];
                operator.made(&[&["api-key", "create", &account][..], &scopes[..]].concat(), "api_key")
            })?;
            let webhook_secret =
                operator.made(&["tenant", "webhook-secret", &tenants[0]], "webhook_secret")?;
            let said = format!("{} of {}", tenants[0], TENANTS[0]);
            Ok((Self { tenants, api_key, webhook_secret, ops_key: operator.key }, said))
        })
    }

    /// Applies the data set's file. One that changes nothing makes no revision.
    pub(super) fn apply(
        &self,
        place: &Place,
        undertaking: &Undertaking,
        console: &Console,
        system: &System,
    ) -> Result<()> {
        let operator = Operator { place, undertaking, api_url: &system.api_url, key: self.ops_key.clone() };
        console.step("Apply the data set", |_| {
            let file = place.root().join(DATASET_FILE);
            let file = file.to_str().context("this clone's path is no Unicode")?;
            let answer = operator.answer(&["dataset", "apply", file])?;
            let revision = answer["datasets"][0]["revision"].as_i64();
            let revision = revision.context("waybill dataset apply answered no revision")?;
            Ok(((), format!("{DATASET_FILE} is revision {revision}")))
        })
    }
}

/// What was made before, or is made now and kept at once, so that a demo that broke off goes on from there.
fn kept(credentials: &mut Credentials, name: &str, make: impl FnOnce() -> Result<String>) -> Result<String> {
    if let Some(known) = credentials.get(name) {
        return Ok(known.to_owned());
    }
    let made = make()?;
    credentials.set(name, &made)?;
    Ok(made)
}

impl Operator<'_> {
    /// The tenant of that name, which a demo that broke off may have made.
    fn tenant(&self, name: &str) -> Result<String> {
        let listed = self.answer(&["tenant", "list"])?;
        let mut tenants = listed["tenants"].as_array().into_iter().flatten();
        match tenants.find(|tenant| tenant["name"] == name).and_then(|tenant| tenant["tenant_id"].as_str()) {
            Some(known) => Ok(known.to_owned()),
            None => self.made(&["tenant", "create", name], "tenant_id"),
        }
    }

    /// The field of the command's answer that names what it made.
    fn made(&self, arguments: &[&str], field: &str) -> Result<String> {
        let answer = self.answer(arguments)?;
        let value = answer[field].as_str().map(ToOwned::to_owned);
        value.with_context(|| format!("waybill {} answered no {field}", arguments.join(" ")))
    }

    fn answer(&self, arguments: &[&str]) -> Result<Value> {
        let mut command = waybill(self.place);
        command.args(arguments).arg("--json");
        command.env("WAYBILL_API_URL", self.api_url).env("WAYBILL_API_KEY", &self.key);
        answer(self.undertaking, &mut command)
    }
}
