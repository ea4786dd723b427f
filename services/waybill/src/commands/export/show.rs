//! `waybill export show`.

use serde_json::{Value, json};

use super::super::{CommandError, text};
use super::{duration, timeline};
use crate::client::Client;
use crate::output::Output;

pub(super) async fn run(client: &Client, export_id: &str, output: &Output) -> Result<(), CommandError> {
    let export = client.get(&format!("/v1/exports/{export_id}")).await?;
    let timeline = client.get(&format!("/v1/exports/{export_id}/timeline")).await?;
    let answer = json!({ "export": export, "timeline": timeline });
    output.answer(&answer, |answer| {
        format!("{}\n{}", summary(&answer["export"]), timeline::drawn(&answer["timeline"]))
    })
}

/// What an export is and how it stands, in a few lines.
fn summary(export: &Value) -> String {
    let line = |name: &str, value: String| format!("  {name:<10}{value}\n");
    let mut summary = format!("{}  {}\n", text::of(&export["export_id"]), text::of(&export["state"]));
    if let Some(name) = export["name"].as_str() {
        summary.push_str(&line("name", name.to_owned()));
    }
    summary.push_str(&line("data set", text::of(&export["dataset"])));
    let result = &export["result"];
    if let (Some(rows), Some(bytes)) = (result["rows"].as_i64(), result["bytes"].as_i64()) {
        summary.push_str(&line("result", format!("{rows} rows, {}", duration::bytes(bytes))));
        summary.push_str(&line("sha256", text::of(&result["sha256"])));
    }
    let failure = &export["failure"];
    if let Some(code) = failure["code"].as_str() {
        summary.push_str(&line("failure", format!("{code}: {}", text::of(&failure["detail"]))));
    }
    summary
}
