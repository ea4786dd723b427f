//! The caller's side: what the demo asks of Waybill over HTTP.

use std::future::Future;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use reqwest::{Client, Method, Response, StatusCode, Url};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::time::{MissedTickBehavior, interval, timeout};

/// How long anything of the demo may take until it counts as broken.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// How often something is asked for again.
const ASK_INTERVAL: Duration = Duration::from_millis(100);

/// One caller with its key.
#[derive(Debug)]
pub(super) struct Api {
    client: Client,
    url: String,
    key: String,
}

/// What was downloaded.
#[derive(Debug)]
pub(super) struct Download {
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

impl Api {
    pub(super) fn new(url: &str, key: &str) -> Result<Self> {
        let client = Client::builder().no_proxy().connect_timeout(Duration::from_secs(5)).build()?;
        Ok(Self { client, url: url.to_owned(), key: key.to_owned() })
    }

    /// `GET path`, a JSON answer.
    pub(super) async fn get(&self, path: &str) -> Result<Value> {
        let response = self.request(Method::GET, path).send().await.context("the api does not answer")?;
        let (status, body) = read(response).await?;
        if !status.is_success() {
            bail!("GET {path}: {status}: {body}");
        }
        Ok(body)
    }

    /// `GET path?q=query`.
    pub(super) async fn search(&self, query: &str) -> Result<Value> {
        let url = Url::parse_with_params(&format!("{}/v1/search", self.url), [("q", query)])?;
        let request = self.client.get(url).bearer_auth(&self.key);
        let (status, body) = read(request.send().await.context("the api does not answer")?).await?;
        if !status.is_success() {
            bail!("GET /v1/search?q={query}: {status}: {body}");
        }
        Ok(body)
    }

    /// `POST /v1/exports` with an intent's key.
    pub(super) async fn ask(&self, idempotency_key: &str, request: &Value) -> Result<(StatusCode, Value)> {
        let call = self.request(Method::POST, "/v1/exports").header("Idempotency-Key", idempotency_key);
        read(call.json(request).send().await.context("the api does not answer")?).await
    }

    /// Downloads the path into a file.
    pub(super) async fn download(&self, path: &str, to: &Path) -> Result<Download> {
        let mut response = self.request(Method::GET, path).send().await.context("the api does not answer")?;
        if !response.status().is_success() {
            bail!("GET {path}: {}", response.status());
        }
        let mut file = std::io::BufWriter::new(std::fs::File::create(to)?);
        let (mut hash, mut bytes) = (Sha256::new(), 0);
        while let Some(chunk) = response.chunk().await.context("the download broke off")? {
            hash.update(&chunk);
            bytes += chunk.len() as u64;
            file.write_all(&chunk)?;
        }
        file.flush()?;
        let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Download { bytes, sha256 })
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.client.request(method, format!("{}{path}", self.url)).bearer_auth(&self.key)
    }
}

/// Asks again until `ask` gives something, or it has taken too long.
pub(super) async fn until<T, F>(what: &str, mut ask: impl FnMut() -> F) -> Result<T>
where
    F: Future<Output = Result<Option<T>>>,
{
    let mut ticks = interval(ASK_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let asking = async {
        loop {
            ticks.tick().await;
            if let Some(found) = ask().await? {
                return Ok(found);
            }
        }
    };
    within(what, asking).await?
}

/// What comes by itself, or an error that names what did not.
pub(super) async fn within<T>(what: &str, coming: impl Future<Output = T>) -> Result<T> {
    let waited = timeout(WAIT_MAX, coming).await;
    waited.with_context(|| {
        format!(
            "{what} did not come within {} s; see .dev/log/waybill.log and ./dev status",
            WAIT_MAX.as_secs()
        )
    })
}

async fn read(response: Response) -> Result<(StatusCode, Value)> {
    let status = response.status();
    let text = response.text().await.context("the answer broke off")?;
    let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
    Ok((status, body))
}
