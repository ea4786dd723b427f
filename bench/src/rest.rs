//! Kafka Connect's REST API, as much of it as a run needs.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::Value;

/// How long Connect may take to do what it accepted.
const STATE_MAX: Duration = Duration::from_secs(180);

/// Nothing tells an outsider when a connector has got there.
const ASK_INTERVAL: Duration = Duration::from_millis(50);

/// One connector of a worker on this machine.
#[derive(Debug)]
pub(crate) struct Connector {
    client: Client,
    url: String,
}

impl Connector {
    pub(crate) fn at(port: u16, name: &str) -> Self {
        Self { client: Client::new(), url: format!("http://127.0.0.1:{port}/connectors/{name}") }
    }

    /// Gives a stopped connector these settings.
    pub(crate) async fn configure(&self, settings: &BTreeMap<&'static str, String>) -> Result<()> {
        let request = self.client.put(format!("{}/config", self.url)).json(settings);
        answer(request, "config").await?;
        self.reach("STOPPED", 0).await
    }

    /// Has its task run, and does not wait for that.
    pub(crate) async fn resume(&self) -> Result<()> {
        self.ask(Method::PUT, "resume").await.map(drop)
    }

    /// Ends its task and keeps its position.
    pub(crate) async fn stop(&self) -> Result<()> {
        self.ask(Method::PUT, "stop").await?;
        self.reach("STOPPED", 0).await
    }

    /// Waits until the connector and so many tasks are in that state.
    pub(crate) async fn reach(&self, state: &str, tasks: usize) -> Result<()> {
        let deadline = Instant::now() + STATE_MAX;
        loop {
            // While the worker starts it answers with an error, or not at all.
            let status = self.ask(Method::GET, "status").await;
            if let Ok(status) = &status {
                let found: Vec<&Value> = status["tasks"].as_array().into_iter().flatten().collect();
                if let Some(failed) = found.iter().find(|task| task["state"] == "FAILED") {
                    bail!("Debezium's task failed: {}", first_line(&failed["trace"]));
                }
                let all = found.iter().all(|task| task["state"] == *state) && found.len() == tasks;
                if all && status["connector"]["state"] == *state {
                    return Ok(());
                }
            }
            if Instant::now() > deadline {
                bail!("the connector was not {state} within {} s: {status:?}", STATE_MAX.as_secs());
            }
            tokio::time::sleep(ASK_INTERVAL).await;
        }
    }

    async fn ask(&self, method: Method, path: &str) -> Result<Value> {
        answer(self.client.request(method, format!("{}/{path}", self.url)), path).await
    }
}

async fn answer(request: RequestBuilder, what: &str) -> Result<Value> {
    let answer = request.send().await.context("Connect does not answer")?;
    let status = answer.status();
    let body = answer.text().await.context("Connect does not finish its answer")?;
    if !status.is_success() {
        bail!("Connect refuses {what} ({status}): {body}");
    }
    if body.is_empty() { Ok(Value::Null) } else { Ok(serde_json::from_str(&body)?) }
}

fn first_line(trace: &Value) -> &str {
    trace.as_str().and_then(|text| text.lines().next()).unwrap_or("it does not say why")
}
