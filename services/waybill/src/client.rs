//! The operator commands' way to the api: one base address, one key, and every refusal as an exit code.

pub(crate) mod codes;
mod refusal;

use std::time::Duration;

use reqwest::header::{ETAG, IF_NONE_MATCH};
use reqwest::{Method, RequestBuilder, Response, StatusCode, Url};
use serde_json::Value;
use waybill_runtime::Secret;

use crate::exit::{CommandError, Exit};

/// Where the api is when `WAYBILL_API_URL` does not say.
const URL_DEFAULT: &str = "http://127.0.0.1:8080";
const URL_VARIABLE: &str = "WAYBILL_API_URL";
const KEY_VARIABLE: &str = "WAYBILL_API_KEY";
/// How long the api may take to take the connection.
const CONNECT_SECONDS_MAX: u64 = 5;
/// How long nothing may come of an answer that is under way; a download as a whole has no bound.
const READ_SECONDS_MAX: u64 = 30;

/// Whose key a command needs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Holder {
    /// One with the scope `ops`.
    Operator,
    /// A tenant's service account.
    Tenant,
    /// Either; what it sees depends on which.
    Any,
}

impl Holder {
    const fn way_to_a_key(self) -> &'static str {
        match self {
            Self::Operator => {
                "ask an operator for a key with the scope ops; waybill api-key create --first makes the first one"
            }
            Self::Tenant | Self::Any => {
                "ask an operator for a key with the scopes exports:read and exports:write (waybill api-key create)"
            }
        }
    }
}

/// A caller of the api.
pub(crate) struct Client {
    http: reqwest::Client,
    base: Url,
    key: Secret,
}

/// What is waited for.
pub(crate) struct Wait<'a> {
    /// What the caller has.
    pub(crate) etag: Option<&'a str>,
    /// How long; below [`READ_SECONDS_MAX`], after which silence is a failure.
    pub(crate) seconds: u64,
}

/// What is other than it was.
pub(crate) struct Changed {
    pub(crate) body: Value,
    pub(crate) etag: Option<String>,
}

/// A request's answer that is no refusal.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Value,
}

impl Client {
    /// The caller that the environment describes; `holder` is who that should be.
    pub(crate) fn from_environment(holder: Holder) -> Result<Self, CommandError> {
        let key = std::env::var(KEY_VARIABLE).unwrap_or_default();
        if key.is_empty() {
            return Err(CommandError::new(
                Exit::Usage,
                codes::API_KEY_MISSING,
                format!("{KEY_VARIABLE} is not set"),
            )
            .with_hint(holder.way_to_a_key()));
        }
        let url = std::env::var(URL_VARIABLE).unwrap_or_else(|_unset| URL_DEFAULT.to_owned());
        let base = Url::parse(&url).map_err(|error| {
            let message = format!("{URL_VARIABLE}={url} is no URL");
            CommandError::new(Exit::Usage, codes::API_URL_INVALID, message).with_source(error)
        })?;
        let http = builder(&base).build().map_err(|error| {
            CommandError::new(Exit::Failed, codes::API_UNREACHABLE, "cannot make an HTTP client")
                .with_source(error)
        })?;
        Ok(Self { http, base, key: Secret::new(key) })
    }

    /// GET of a JSON answer.
    pub(crate) async fn get(&self, path: &str) -> Result<Value, CommandError> {
        let response = self.send(self.request(Method::GET, path)?).await?;
        Ok(read(response).await?.body)
    }

    /// POST of JSON.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Value, CommandError> {
        let response = self.send(self.request(Method::POST, path)?.json(body)).await?;
        Ok(read(response).await?.body)
    }

    /// PATCH of JSON.
    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Result<Value, CommandError> {
        let response = self.send(self.request(Method::PATCH, path)?.json(body)).await?;
        Ok(read(response).await?.body)
    }

    /// GET of an export as soon as it is other than the caller has it, or after so many seconds. `None`: it is as it was.
    pub(crate) async fn changed(&self, path: &str, wait: &Wait<'_>) -> Result<Option<Changed>, CommandError> {
        let request = self.request(Method::GET, path)?.header("prefer", format!("wait={}", wait.seconds));
        let request = match wait.etag {
            Some(etag) => request.header(IF_NONE_MATCH, etag),
            None => request,
        };
        let response = self.send(request).await?;
        if response.status() == StatusCode::NOT_MODIFIED {
            return Ok(None);
        }
        let etag = response.headers().get(ETAG).and_then(|etag| etag.to_str().ok()).map(str::to_owned);
        Ok(Some(Changed { body: read(response).await?.body, etag }))
    }

    /// POST or DELETE of what the path and its parameters say alone.
    pub(crate) async fn bare(&self, method: Method, path: &str) -> Result<Value, CommandError> {
        let response = self.send(self.request(method, path)?).await?;
        Ok(read(response).await?.body)
    }

    /// POST of an intent, which may be sent again with the same key.
    pub(crate) async fn post_intent(
        &self,
        path: &str,
        idempotency_key: &str,
        body: &Value,
    ) -> Result<Answer, CommandError> {
        let request = self.request(Method::POST, path)?.header("idempotency-key", idempotency_key);
        read(self.send(request.json(body)).await?).await
    }

    /// The same of an intent that its path says whole.
    pub(crate) async fn post_bare_intent(
        &self,
        path: &str,
        idempotency_key: &str,
    ) -> Result<Answer, CommandError> {
        let request = self.request(Method::POST, path)?.header("idempotency-key", idempotency_key);
        read(self.send(request).await?).await
    }

    /// GET of a body that is read piece by piece.
    pub(crate) async fn download(&self, path: &str) -> Result<Response, CommandError> {
        self.send(self.request(Method::GET, path)?).await
    }

    fn request(&self, method: Method, path: &str) -> Result<RequestBuilder, CommandError> {
        let url = self.base.join(path.trim_start_matches('/')).map_err(|error| {
            let message = format!("{path} is no path");
            CommandError::new(Exit::Usage, codes::API_URL_INVALID, message).with_source(error)
        })?;
        Ok(self.http.request(method, url).bearer_auth(self.key.expose()))
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, CommandError> {
        let response = request.send().await.map_err(|error| {
            let message = format!("the api at {} does not answer", self.base);
            CommandError::new(Exit::Unavailable, codes::API_UNREACHABLE, message)
                .with_source(error)
                .with_hint(format!("check {URL_VARIABLE}, and that `waybill run api` runs there"))
        })?;
        if response.status().is_success() || response.status() == StatusCode::NOT_MODIFIED {
            return Ok(response);
        }
        let status = response.status();
        let body = response.text().await.unwrap_or_default();
        Err(refusal::of(status, &body))
    }
}

/// A proxy of the environment is for the world outside of this machine.
fn builder(base: &Url) -> reqwest::ClientBuilder {
    let builder = reqwest::Client::builder()
        .connect_timeout(Duration::from_secs(CONNECT_SECONDS_MAX))
        .read_timeout(Duration::from_secs(READ_SECONDS_MAX))
        .user_agent(concat!("waybill/", env!("CARGO_PKG_VERSION")));
    let is_here = matches!(base.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    if is_here { builder.no_proxy() } else { builder }
}

async fn read(response: Response) -> Result<Answer, CommandError> {
    let status = response.status();
    let body = response.json().await.map_err(|error| {
        CommandError::new(Exit::Unavailable, codes::API_ANSWER_UNREADABLE, "the api's answer is no JSON")
            .with_source(error)
            .with_hint(format!("check that {URL_VARIABLE} names Waybill's api and not something before it"))
    })?;
    Ok(Answer { status, body })
}
