//! `waybill export show`.

use serde_json::{Value, json};
use waybill_api::codes::{SCOPE_MISSING, TENANT_REQUIRED};

use super::super::{CommandError, text};
use super::{duration, timeline};
use crate::client::Client;
use crate::output::Output;

const OF_TENANT: &str = "/v1/exports";
const OF_OPERATORS: &str = "/v1/ops/exports";

pub(super) async fn run(client: &Client, export_id: &str, output: &Output) -> Result<(), CommandError> {
    let (exports, export) = find(client, export_id).await?;
    let timeline = client.get(&format!("{exports}/{export_id}/timeline")).await?;
    let answer = json!({ "export": export, "timeline": timeline });
    output.answer(&answer, |answer| {
        format!("{}\n{}", summary(&answer["export"]), timeline::drawn(&answer["timeline"]))
    })
}

/// The export, and under which path this key sees exports: a tenant's its own, an operator's all of them.
async fn find(client: &Client, export_id: &str) -> Result<(&'static str, Value), CommandError> {
    let refused = match client.get(&format!("{OF_TENANT}/{export_id}")).await {
        Ok(export) => return Ok((OF_TENANT, export)),
        Err(error) if [SCOPE_MISSING, TENANT_REQUIRED].contains(&error.code.as_str()) => error,
        Err(error) => return Err(error),
    };
    match client.get(&format!("{OF_OPERATORS}/{export_id}")).await {
        Ok(export) => Ok((OF_OPERATORS, export)),
        // No operator's key either: what the tenant's lacks is what counts.
        Err(error) if error.code == SCOPE_MISSING => Err(refused),
        Err(error) => Err(error),
    }
}

/// What an export is and how it stands, in a few lines.
fn summary(export: &Value) -> String {
    let line = |name: &str, value: String| format!("  {name:<10}{value}\n");
    let mut summary = format!("{}  {}\n", text::of(&export["export_id"]), text::of(&export["state"]));
    if let Some(name) = export["name"].as_str() {
        summary.push_str(&line("name", name.to_owned()));
    }
    if let Some(tenant_id) = export["tenant_id"].as_str() {
        summary.push_str(&line("tenant", tenant_id.to_owned()));
    }
    let [dataset, revision] = ["dataset", "dataset_revision"].map(|member| text::of(&export[member]));
    summary.push_str(&line("data set", format!("{dataset}, revision {revision}")));
    summary.push_str(&line("file", file(export)));
    let filters = export["filters"].as_object().filter(|filters| !filters.is_empty());
    if filters.is_some() {
        summary.push_str(&line("filters", export["filters"].to_string()));
    }
    if let Some(order) = export["order"].as_str() {
        summary.push_str(&line("order", order.to_owned()));
    }
    let result = &export["result"];
    if let (Some(rows), Some(bytes)) = (result["rows"].as_i64(), result["bytes"].as_i64()) {
        summary.push_str(&line("result", format!("{rows} rows, {}", duration::bytes(bytes))));
        summary.push_str(&line("sha256", text::of(&result["sha256"])));
        let as_of = &result["as_of"];
        if as_of.is_object() {
            summary.push_str(&line(
                "as of",
                format!("{} at {}", text::of(&as_of["lsn"]), text::of(&as_of["at"])),
            ));
        }
    }
    let failure = &export["failure"];
    if let Some(code) = failure["code"].as_str() {
        summary.push_str(&line("failure", format!("{code}: {}", text::of(&failure["detail"]))));
    }
    if let Some(retry_of) = export["retry_of"].as_str() {
        summary.push_str(&line("retry of", retry_of.to_owned()));
    }
    if let Some(expires_at) = export["expires_at"].as_str() {
        summary.push_str(&line("expires", expires_at.to_owned()));
    }
    summary
}

/// The format, its compression and its columns.
fn file(export: &Value) -> String {
    let [format, compression, columns] =
        ["format", "compression", "columns"].map(|member| text::of(&export[member]));
    let compressed = if compression == "none" { String::new() } else { format!(" with {compression}") };
    format!("{format}{compressed} of {}", columns.replace(',', ", "))
}
