//! Who calls the api: a key, and what was answered.

use reqwest::header::HeaderMap;
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, StatusCode, Url};
use serde_json::{Value, json};

use crate::bounded::{WAIT_MAX, eventually};
use crate::events::Events;

/// A caller with its key.
#[derive(Debug, Clone)]
pub struct Caller {
    http: Client,
    base: Url,
    key: String,
    tenant_id: Option<String>,
}

/// What the api answered.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, as it came.
    pub bytes: Vec<u8>,
}

impl Answer {
    /// The body as JSON; `null` when it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_default()
    }

    /// The JSON of a 201.
    ///
    /// # Panics
    /// On any other answer.
    #[must_use]
    pub fn created(&self) -> Value {
        assert_eq!(self.status, StatusCode::CREATED, "{}", self.json());
        self.json()
    }

    /// The JSON of a 2xx.
    ///
    /// # Panics
    /// On any other answer.
    pub fn success(&self) -> Value {
        assert!(self.status.is_success(), "{}: {}", self.status, self.json());
        self.json()
    }

    /// The slug of a problem.
    #[must_use]
    pub fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_default().to_owned()
    }
}

impl Caller {
    pub(crate) fn new(base: Url, key: &str, tenant_id: Option<&str>) -> Self {
        let http = Client::builder().timeout(WAIT_MAX).no_proxy().redirect(Policy::none()).build();
        Self {
            http: http.unwrap_or_else(|error| panic!("no HTTP client: {error}")),
            base,
            key: key.to_owned(),
            tenant_id: tenant_id.map(str::to_owned),
        }
    }

    /// The same api with another key.
    #[must_use]
    pub fn with_key(&self, key: &str, tenant_id: Option<&str>) -> Self {
        Self { key: key.to_owned(), tenant_id: tenant_id.map(str::to_owned), ..self.clone() }
    }

    /// The same caller at another api.
    #[must_use]
    pub fn at(&self, base: Url) -> Self {
        Self { base, ..self.clone() }
    }

    /// Its key.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Its tenant.
    ///
    /// # Panics
    /// For an operator, who has none.
    #[must_use]
    pub fn tenant_id(&self) -> &str {
        self.tenant_id.as_deref().unwrap_or_else(|| panic!("an operator has no tenant"))
    }

    /// GET.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.http.get(self.url(path))).await
    }

    /// GET with these headers.
    pub async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send(with(self.http.get(self.url(path)), headers)).await
    }

    /// HEAD with these headers.
    pub async fn head_with(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send(with(self.http.head(self.url(path)), headers)).await
    }

    /// PATCH of JSON.
    pub async fn patch(&self, path: &str, body: &Value) -> Answer {
        self.send(self.http.patch(self.url(path)).json(body)).await
    }

    /// Begins to read an export's events, after the one of this id where there is one.
    ///
    /// # Panics
    /// When no answer comes, or one that is no stream.
    pub async fn follow(&self, export_id: &str, last_event_id: Option<&str>) -> Events {
        let request = self.http.get(self.url(&format!("/v1/exports/{export_id}/events")));
        let request = match last_event_id {
            Some(id) => request.header("Last-Event-ID", id),
            None => request,
        };
        let response = request.bearer_auth(&self.key).send().await;
        Events::of(response.unwrap_or_else(|error| panic!("no answer: {error:?}")))
    }

    /// POST of JSON.
    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(self.http.post(self.url(path)).json(body)).await
    }

    /// POST of what the path says alone, with an intent where it needs one.
    pub async fn post_bare(&self, path: &str, intent: Option<&str>) -> Answer {
        let request = self.http.post(self.url(path));
        let request = match intent {
            Some(intent) => request.header("Idempotency-Key", intent),
            None => request,
        };
        self.send(request).await
    }

    /// DELETE.
    pub async fn delete(&self, path: &str) -> Answer {
        self.send(self.http.delete(self.url(path))).await
    }

    /// Applies a data set's file, as an operator.
    ///
    /// # Panics
    /// When the api refuses.
    pub async fn apply_dataset(&self, file: &str) -> Value {
        self.post("/v1/ops/datasets", &json!({ "file": file })).await.success()
    }

    /// Asks for an export with this intent.
    pub async fn ask(&self, intent: &str, body: &Value) -> Answer {
        self.send(self.asking(intent, body)).await
    }

    /// Asks, and gives the error when no answer came.
    ///
    /// # Errors
    /// When the connection broke before an answer.
    pub async fn ask_in_vain(&self, intent: &str, body: &Value) -> Result<(), reqwest::Error> {
        self.asking(intent, body).bearer_auth(&self.key).send().await.map(drop)
    }

    /// Asks for an export of all orders, and gives its id.
    ///
    /// # Panics
    /// When the api refuses.
    pub async fn export(&self, intent: &str) -> String {
        let answer = self.ask(intent, &json!({ "dataset": "orders" })).await;
        id_of(&answer.success())
    }

    /// The export as soon as it has its outcome.
    ///
    /// # Panics
    /// When it has none in time.
    pub async fn settled(&self, export_id: &str) -> Value {
        let path = format!("/v1/exports/{export_id}");
        eventually(&format!("the outcome of {export_id}"), || async {
            let export = self.get(&path).await.success();
            let state = export["state"].as_str().unwrap_or_default();
            (!["pending", "running"].contains(&state)).then_some(export)
        })
        .await
    }

    fn asking(&self, intent: &str, body: &Value) -> RequestBuilder {
        self.http.post(self.url("/v1/exports")).header("Idempotency-Key", intent).json(body)
    }

    fn url(&self, path: &str) -> Url {
        self.base.join(path).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    async fn send(&self, request: RequestBuilder) -> Answer {
        let response = request.bearer_auth(&self.key).send().await;
        let response = response.unwrap_or_else(|error| panic!("no answer: {error:?}"));
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = response.bytes().await.unwrap_or_else(|error| panic!("the body broke off: {error:?}"));
        Answer { status, headers, bytes: bytes.to_vec() }
    }
}

fn with(request: RequestBuilder, headers: &[(&str, &str)]) -> RequestBuilder {
    headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))
}

/// The id in an export's representation.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn id_of(export: &Value) -> String {
    export["export_id"].as_str().unwrap_or_else(|| panic!("no export_id in {export}")).to_owned()
}
