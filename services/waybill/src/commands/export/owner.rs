//! `waybill export cancel`, `delete` and `retry`: what an export's owner decides.

use reqwest::{Method, StatusCode};
use serde_json::Value;
use uuid::Uuid;

use super::super::decision::Decision;
use super::super::{CommandError, text};
use super::create::with_intent;
use crate::client::Client;
use crate::output::Output;

pub(super) async fn cancel(
    client: &Client,
    export_id: &str,
    decision: &Decision,
    output: &Output,
) -> Result<(), CommandError> {
    decide(client, Method::POST, &format!("/v1/exports/{export_id}/cancel"), decision, output).await
}

pub(super) async fn delete(
    client: &Client,
    export_id: &str,
    decision: &Decision,
    output: &Output,
) -> Result<(), CommandError> {
    decide(client, Method::DELETE, &format!("/v1/exports/{export_id}"), decision, output).await
}

async fn decide(
    client: &Client,
    method: Method,
    path: &str,
    decision: &Decision,
    output: &Output,
) -> Result<(), CommandError> {
    // As parameters: a DELETE has no body that every proxy would let through.
    let judge = async |reason: &str, is_dry_run: bool| {
        let said = [("reason", reason), ("dry_run", if is_dry_run { "true" } else { "false" })];
        client.bare(method.clone(), &text::address(path, &said)).await
    };
    decision.carry_out_by(judge, &["state"], output, line).await
}

pub(super) async fn retry(
    client: &Client,
    export_id: &str,
    intent: Option<String>,
    output: &Output,
) -> Result<(), CommandError> {
    let intent = intent.unwrap_or_else(|| Uuid::now_v7().to_string());
    // Said before it is sent: whoever loses the answer can send the same intent again.
    output.note(&format!("intent {intent}"));
    let answer = client.post_bare_intent(&format!("/v1/exports/{export_id}/retry"), &intent).await;
    let mut answer = answer.map_err(|error| with_intent(error, &intent))?;
    let is_new = answer.status == StatusCode::ACCEPTED;
    answer.body["intent"] = intent.into();
    output.answer(&answer.body, |export| {
        let known = if is_new { "" } else { "  (known intent)" };
        format!("{}  another try of {}{known}", line(export), text::of(&export["retry_of"]))
    })
}

fn line(export: &Value) -> String {
    format!("{}  {}", text::of(&export["export_id"]), text::of(&export["state"]))
}
