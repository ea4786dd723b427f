//! One export, from the intent to every downstream, as its caller lives it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use waybill_devstack::Mail;

use super::api::{Api, Download, until, within};
use super::letter::text_of;
use super::receiver::{Received, Receiver};
/// What the caller calls the export.
const NAME: &str = "訂單匯出 2025 年度報表";

/// Two characters out of the middle of it.
const QUERY: &str = "匯出";

/// The caller's side of one export.
pub(super) struct Tale<'a> {
    /// Standard output is for the summary alone.
    pub(super) quiet: bool,
    pub(super) api: Api,
    pub(super) mail: &'a Mail,
    pub(super) receiver: Receiver,
    /// Where downloads go.
    pub(super) folder: PathBuf,
    /// How many rows the tenant has.
    pub(super) rows: i64,
}

/// What the caller saw.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) export_id: String,
    pub(super) export: Value,
    pub(super) file: PathBuf,
    pub(super) counters: Value,
    pub(super) mail: String,
    pub(super) webhook: Received,
    pub(super) timeline: Value,
}

impl Tale<'_> {
    pub(super) async fn run(mut self) -> Result<Seen> {
        let intent = format!("demo-{:016x}", rand::random::<u64>());
        let address = format!("{intent}@example.com");
        let export_id = self.ask(&intent, &address).await?;
        let export = self.follow(&export_id).await?;
        let file = self.download(&export).await?;
        self.found(&export_id).await?;
        let counters = self.counted(export["result"]["rows"].as_i64().unwrap_or(0)).await?;
        let mail = self.mailed(&address).await?;
        let webhook = self.called(&export_id).await?;
        let timeline = self.timeline(&export_id).await?;
        Ok(Seen { export_id, export, file, counters, mail, webhook, timeline })
    }

    fn say(&self, text: &str) {
        if self.quiet { eprintln!("{text}") } else { println!("{text}") }
    }

    /// Once, again, and then with the same intent for something else.
    async fn ask(&self, intent: &str, address: &str) -> Result<String> {
        let request = json!({
            "dataset": "orders",
            "name": NAME,
            "labels": { "purpose": "demo" },
            "notify": [
                { "channel": "email", "target": address },
                { "channel": "webhook", "target": self.receiver.url() },
            ],
        });
        let (status, first) = self.api.ask(intent, &request).await?;
        ensure!(status == 202, "the export was not accepted: {status}: {first}");
        let export_id = first["export_id"].as_str().context("an accepted export has an id")?.to_owned();
        self.say(&format!("  POST /v1/exports  Idempotency-Key: {intent}\n    {status} {export_id} {NAME}"));

        let (status, again) = self.api.ask(intent, &request).await?;
        ensure!(status == 200 && again["export_id"] == *export_id, "another export for one intent: {again}");
        self.say(&format!("  the same again\n    {status} {export_id}, the same export"));

        let mut other = request;
        other["columns"] = json!(["order_id", "amount"]);
        let (status, refusal) = self.api.ask(intent, &other).await?;
        ensure!(status.is_client_error(), "another request under the same intent was not refused: {status}");
        let (title, detail) = (text(&refusal["title"]), text(&refusal["detail"]));
        self.say(&format!("  the same intent, other columns\n    {status}: {title}: {detail}"));
        Ok(export_id)
    }

    async fn follow(&self, export_id: &str) -> Result<Value> {
        let path = format!("/v1/exports/{export_id}");
        let mut last = String::new();
        loop {
            let export = until("an end of the export", async || {
                let export = self.api.get(&path).await?;
                let now = progress(&export);
                let changed = now != last;
                let over = !matches!(text(&export["state"]), "pending" | "running");
                Ok((changed || over).then_some(export))
            })
            .await?;
            last = progress(&export);
            self.say(&format!("  {last}"));
            match text(&export["state"]) {
                "pending" | "running" => {}
                "succeeded" => return Ok(export),
                state => bail!("the export {state}: {}", export["failure"]),
            }
        }
    }

    async fn download(&self, export: &Value) -> Result<PathBuf> {
        fs::create_dir_all(&self.folder)?;
        let file = self.folder.join(format!("{}.csv", text(&export["export_id"])));
        let path = text(&export["links"]["content"]);
        let Download { bytes, sha256 } = self.api.download(path, &file).await?;
        let result = &export["result"];
        let rows = count_rows(&file)?;
        ensure!(sha256 == text(&result["sha256"]), "the file's sha256 is {sha256}, the export's {result}");
        ensure!(result["rows"].as_i64() == Some(rows), "the file has {rows} rows, the export says {result}");
        ensure!(rows == self.rows, "the file has {rows} rows, the tenant {} orders", self.rows);
        self.say(&format!(
            "  GET {path}\n    {rows} rows, as the tenant has and as the export says\n    {bytes} bytes, sha256 {sha256}, as \
             the export says\n    {}",
            file.display()
        ));
        Ok(file)
    }

    async fn found(&self, export_id: &str) -> Result<()> {
        let hit = until("the export in search", async || {
            let answer = self.api.search(QUERY).await?;
            let mut hits = answer["exports"].as_array().into_iter().flatten();
            Ok(hits.find(|hit| hit["export_id"] == *export_id && hit["state"] == "succeeded").cloned())
        });
        let hit = hit.await?;
        let (name, state) = (text(&hit["name"]), text(&hit["state"]));
        self.say(&format!("  GET /v1/search?q={QUERY}\n    {export_id} {name} ({state})"));
        Ok(())
    }

    /// The counters once they hold this export's rows. They only rise, so it is enough that all that was asked for
    /// has ended.
    async fn counted(&self, rows: i64) -> Result<Value> {
        let counters = until("the export in the counters", async || {
            let answer = self.api.get("/v1/stats").await?;
            let mut datasets = answer["datasets"].as_array().into_iter().flatten();
            let orders = datasets.find(|counter| counter["dataset"] == "orders").cloned();
            Ok(orders.filter(|counter| is_settled(counter) && counter["rows"].as_i64() >= Some(rows)))
        });
        let counters = counters.await?;
        self.say(&format!(
            "  GET /v1/stats\n    orders: {} requested, {} succeeded, {} rows, {} bytes",
            counters["requested"], counters["succeeded"], counters["rows"], counters["bytes"]
        ));
        Ok(counters)
    }

    async fn mailed(&self, address: &str) -> Result<String> {
        let mail = until("the mail", async || Ok(self.mail.received(address).pop())).await?;
        let text = text_of(&mail.message);
        let subject = mail.subject.unwrap_or_default();
        self.say(&format!("  mail to {address}\n    Subject: {subject}\n{}", indent(text.trim_end())));
        Ok(text)
    }

    async fn called(&mut self, export_id: &str) -> Result<Received> {
        let coming = async {
            // One of an earlier demo that broke off may still be under way to the same port.
            while let Some(received) = self.receiver.next().await {
                if received.body["data"]["export_id"] == *export_id {
                    return Some(received);
                }
            }
            None
        };
        let received = within("the webhook", coming).await?.context("the webhook receiver ended")?;
        let kind = text(&received.body["type"]);
        self.say(&format!("  webhook, signature verified\n    webhook-id: {}, {kind}", received.id));
        Ok(received)
    }

    /// The timeline once its every step is reached: what the caller has seen may be recorded a moment later.
    async fn timeline(&self, export_id: &str) -> Result<Value> {
        let path = format!("/v1/exports/{export_id}/timeline");
        until("every step of the timeline", async || {
            let timeline = self.api.get(&path).await?;
            let mut steps = timeline["steps"].as_array().into_iter().flatten();
            Ok(steps.all(|step| step["at"].is_string()).then_some(timeline))
        })
        .await
    }
}

fn is_settled(counter: &Value) -> bool {
    let count = |name: &str| counter[name].as_i64().unwrap_or(0);
    count("requested") > 0 && count("requested") == count("succeeded") + count("failed") + count("cancelled")
}

fn progress(export: &Value) -> String {
    let state = text(&export["state"]);
    let progress = &export["progress"];
    match (progress["rows_done"].as_i64(), progress["rows_estimated"].as_i64()) {
        (Some(done), Some(total)) if state == "running" => format!("{state}: {done} of about {total} rows"),
        (Some(done), None) if state == "running" => format!("{state}: {done} rows"),
        _ => state.to_owned(),
    }
}

fn count_rows(file: &Path) -> Result<i64> {
    let mut rows = 0;
    let mut record = csv::ByteRecord::new();
    let mut reader = csv::Reader::from_path(file)?;
    while reader.read_byte_record(&mut record).context("the file is no CSV")? {
        rows += 1;
    }
    Ok(rows)
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
