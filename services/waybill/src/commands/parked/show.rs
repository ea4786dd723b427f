//! `waybill parked show`.

use serde_json::Value;

use super::super::export::duration;
use super::super::outbox::reach::Place;
use super::super::{CommandError, text};
use crate::output::Output;

pub(super) async fn run(place: &Place, seq: i64, output: &Output) -> Result<(), CommandError> {
    output.answer(&place.reach().await?.show(seq).await?, drawn)
}

/// A row in a few lines. Its value is in the JSON: a terminal is no place for any bytes.
fn drawn(row: &Value) -> String {
    let mut lines = vec![format!("row {}  {}", text::of(&row["seq"]), text::of(&row["state"]))];
    let mut line = |name: &str, value: String| lines.push(format!("  {name:<11}{value}"));
    line("topic", text::of(&row["topic"]));
    line("key", row["key"].as_str().map_or("none".to_owned(), |key| format!("{key} (base64)")));
    line("event id", text::of(&row["event_id"]));
    let size = row["payload_bytes"].as_i64();
    line(
        "value",
        size.map_or("none, a tombstone".to_owned(), |bytes| {
            format!("{}; --json has it", duration::bytes(bytes))
        }),
    );
    for header in row["headers"].as_array().into_iter().flatten() {
        let value = if header["value"].is_null() { &header["value_base64"] } else { &header["value"] };
        line("header", format!("{}: {}", text::of(&header["name"]), text::of(value)));
    }
    line("because", format!("{}: {}", text::of(&row["code"]), text::of(&row["detail"])));
    line("refused", format!("{} times", text::of(&row["refusals"])));
    let [created, parked] = ["created_at", "parked_at"].map(|member| text::of(&row[member]));
    line("written", created);
    line("parked", parked);
    let hold = &row["hold"];
    let [hold_id, scope, since] = ["hold_id", "scope", "held_at"].map(|member| text::of(&hold[member]));
    line("hold", format!("{hold_id}, of its {scope}, since {since}"));
    line("behind it", format!("{} rows", text::of(&row["behind"])));
    if row["decided_by"].is_string() {
        let [by, at, reason] =
            ["decided_by", "decided_at", "decision_reason"].map(|member| text::of(&row[member]));
        line("decided", format!("by {by} at {at}: {reason}"));
    }
    if row["sent_at"].is_string() {
        line("sent", text::of(&row["sent_at"]));
    }
    lines.join("\n")
}
