//! Somebody who calls the api of the bench's stack.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};

use crate::installation::Installation;

/// How long a process may take to listen.
const BEGIN_MAX: Duration = Duration::from_secs(30);

/// Nothing tells an outsider when it does.
const ASK_INTERVAL: Duration = Duration::from_millis(50);

/// How long one wait for an export is asked for; it asks for the next.
const WAIT_SECONDS: u64 = 55;

/// The holder of a key.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    client: Client,
    base: String,
    key: String,
}

/// A tenant's caller, and the tenant.
#[derive(Debug)]
pub(crate) struct Tenant {
    pub(crate) caller: Caller,
    pub(crate) tenant_id: String,
}

impl Caller {
    /// The first operator of an installation whose api listens, or is about to.
    pub(crate) async fn operator(installation: &Installation<'_>, port: u16) -> Result<Self> {
        let made = installation.ask(&["api-key", "create", "--first"])?;
        let caller = Self {
            client: Client::new(),
            base: format!("http://127.0.0.1:{port}"),
            key: text(&made, "api_key")?,
        };
        caller.wait("/v1/ops/tenants").await?;
        Ok(caller)
    }

    /// Waits until the api answers there.
    pub(crate) async fn wait(&self, path: &str) -> Result<()> {
        let begun = Instant::now();
        while self.get(path).await.is_err() {
            if begun.elapsed() > BEGIN_MAX {
                bail!("the api does not answer");
            }
            tokio::time::sleep(ASK_INTERVAL).await;
        }
        Ok(())
    }

    /// The same, with a connection that it shares with nobody.
    pub(crate) fn alone(&self) -> Self {
        Self { client: Client::new(), ..self.clone() }
    }

    /// A new tenant with a key.
    pub(crate) async fn tenant(&self, name: &str) -> Result<Tenant> {
        let made = self.post("/v1/ops/tenants", &json!({ "name": name })).await?;
        let tenant_id = text(&made, "tenant_id")?;
        let account = json!({ "tenant_id": tenant_id, "name": "bench" });
        let account = self.post("/v1/ops/service-accounts", &account).await?;
        let wanted = json!({
            "service_account_id": text(&account, "service_account_id")?,
            "scopes": ["exports:read", "exports:write"],
        });
        let made = self.post("/v1/ops/api-keys", &wanted).await?;
        let caller = Self { key: text(&made, "api_key")?, ..self.clone() };
        Ok(Tenant { caller, tenant_id })
    }

    /// Asks for an export, and gives its id.
    pub(crate) async fn ask(&self, intent: &str, body: &Value) -> Result<String> {
        let request = self.client.post(self.url("/v1/exports")).header("Idempotency-Key", intent).json(body);
        text(&self.send(request).await?, "export_id")
    }

    /// An export once it has its outcome, without asking again and again: that would cost the server time that is measured.
    pub(crate) async fn settled(&self, export_id: &str) -> Result<Value> {
        let path = format!("/v1/exports/{export_id}");
        let mut known = String::new();
        loop {
            let request = self.client.get(self.url(&path)).bearer_auth(&self.key);
            let waiting =
                request.header("Prefer", format!("wait={WAIT_SECONDS}")).header("If-None-Match", &known);
            let answer = waiting.send().await.context("the api does not answer")?;
            if let Some(tag) = answer.headers().get("ETag").and_then(|tag| tag.to_str().ok()) {
                tag.clone_into(&mut known);
            }
            if answer.status().is_success() {
                let export: Value = answer.json().await.context("no JSON")?;
                if !["pending", "running"].contains(&export["state"].as_str().unwrap_or_default()) {
                    return Ok(export);
                }
            } else if answer.status() != reqwest::StatusCode::NOT_MODIFIED {
                bail!("{path}: {} {}", answer.status(), answer.text().await.unwrap_or_default());
            }
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Value> {
        self.send(self.client.get(self.url(path))).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        self.send(self.client.post(self.url(path)).json(body)).await
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    async fn send(&self, request: RequestBuilder) -> Result<Value> {
        let answer = request.bearer_auth(&self.key).send().await.context("the api does not answer")?;
        let status = answer.status();
        let body: Value = answer.json().await.context("the api answers no JSON")?;
        if !status.is_success() {
            bail!("{status}: {body}");
        }
        Ok(body)
    }
}

fn text(value: &Value, member: &str) -> Result<String> {
    value[member].as_str().map(str::to_owned).with_context(|| format!("no {member} in {value}"))
}
