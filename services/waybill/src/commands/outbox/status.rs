//! `waybill outbox status`.

use serde_json::Value;

use super::super::export::duration;
use super::super::{CommandError, text};
use super::reach::Place;
use crate::output::{Output, table};

pub(super) async fn run(place: &Place, output: &Output) -> Result<(), CommandError> {
    output.answer(&place.reach().await?.status().await?, |answer| {
        let outboxes: Vec<String> = answer["outboxes"].as_array().into_iter().flatten().map(drawn).collect();
        outboxes.join("\n")
    })
}

/// One outbox, in a few lines and a table of what is held.
fn drawn(outbox: &Value) -> String {
    let mut lines = vec![text::of(&outbox["outbox"])];
    let mut line = |name: &str, value: String| lines.push(format!("  {name:<12}{value}"));
    line("relay", relay(outbox));
    line("window", window(outbox));
    if !outbox["restore"]["resend_after_seq"].is_null() {
        let [after, floor] =
            ["resend_after_seq", "floor_seq"].map(|member| text::of(&outbox["restore"][member]));
        line("restore", format!("sending again after row {after} up to row {floor}"));
    }
    line("waiting", waiting(&outbox["waiting"]));
    let rate = outbox["rows_per_second"].as_f64().unwrap_or_default();
    line("rate", format!("{rate:.1} rows a second over the last minute"));
    let parked = &outbox["parked"];
    let [refused, behind] = ["refused", "waiting"].map(|member| text::of(&parked[member]));
    line("parked", format!("{}{refused} refused, {behind} waiting", at_least(parked)));
    line("partitions", format!("for {} more days", text::of(&outbox["partition_days_ahead"])));
    line("cleaning", cleaning(&outbox["cleaning_held_back_by"]));
    let mut drawing = lines.join("\n");
    drawing.push('\n');
    let holds = outbox["holds"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !holds.is_empty() {
        let members = ["hold_id", "scope", "topic", "key", "code", "refused", "waiting", "held_at", "detail"];
        let rows: Vec<_> = holds.iter().map(|hold| text::row(hold, &members)).collect();
        drawing.push('\n');
        drawing.push_str(&table(&members, &rows));
    }
    drawing
}

fn relay(outbox: &Value) -> String {
    let remaining = outbox["lease_remaining_ms"].as_f64().unwrap_or_default();
    let fence = text::of(&outbox["fence"]);
    match outbox["holder"].as_str() {
        Some(holder) if remaining > 0.0 => {
            format!("{holder}, fence {fence}, lease for {}", duration::shown(remaining))
        }
        Some(holder) => format!("none; {holder} let its lease run out, fence {fence}"),
        None => format!("none, fence {fence}"),
    }
}

fn window(outbox: &Value) -> String {
    let window = &outbox["window"];
    let moved = duration::shown(window["moved_age_ms"].as_f64().unwrap_or_default());
    if window["is_drained"] == true {
        return format!("drained up to {}, moved {moved} ago", text::of(&window["to"]));
    }
    let [from, to, transactions, after] =
        ["from", "to", "transactions", "after_seq"].map(|member| text::of(&window[member]));
    format!("{transactions} transactions, from {from} to {to}, sent up to row {after}, moved {moved} ago")
}

fn waiting(waiting: &Value) -> String {
    let rows = waiting["rows"].as_i64().unwrap_or_default();
    let mut words = format!("{}{rows} rows", at_least(waiting));
    #[expect(clippy::cast_possible_truncation, reason = "an estimate of bytes")]
    if let Some(bytes) = waiting["bytes_estimate"].as_f64().filter(|_| rows > 0) {
        words.push_str(&format!(", some {} on disk", duration::bytes(bytes as i64)));
    }
    if let Some(age) = waiting["oldest_age_ms"].as_f64() {
        words.push_str(&format!(", the oldest for {}", duration::shown(age)));
    }
    words
}

fn cleaning(horizon: &Value) -> String {
    if horizon.is_null() {
        return "held back by nobody".to_owned();
    }
    let [kind, name, age] = ["kind", "name", "age_transactions"].map(|member| text::of(&horizon[member]));
    let since = horizon["since"].as_str().map(|since| format!(", since {since}")).unwrap_or_default();
    format!("up to {age} transactions are kept for the {kind} {name}{since}")
}

fn at_least(counted: &Value) -> &'static str {
    if counted["is_exact"] == false { "at least " } else { "" }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::drawn;

    #[test]
    fn an_outbox_with_a_backlog_says_who_relays_it_and_what_waits() {
        let outbox = json!({
            "outbox": "main", "holder": "relay-1", "fence": 7, "lease_remaining_ms": 9_000,
            "window": { "from": "5:9:", "to": "8:20:", "after_seq": 17, "transactions": 11, "is_drained": false,
                "moved_age_ms": 1_500 },
            "restore": { "floor_seq": 0, "resend_after_seq": null },
            "waiting": { "rows": 100_000, "is_exact": false, "bytes_estimate": 10_485_760.0, "oldest_age_ms": 61_000 },
            "rows_per_second": 1234.56, "parked": { "refused": 1, "waiting": 2, "is_exact": true },
            "partition_days_ahead": 14,
            "cleaning_held_back_by": { "kind": "session", "name": "42 app psql", "age_transactions": 900, "since": null },
            "holds": [{ "hold_id": 1, "scope": "key", "topic": "orders", "key": "YQ==", "code": "relay-row-refused",
                "refused": 1, "waiting": 2, "held_at": "2026-01-01T00:00:00Z", "detail": "too large" }],
        });
        let expected = "\
main
  relay       relay-1, fence 7, lease for 9.00 s
  window      11 transactions, from 5:9: to 8:20:, sent up to row 17, moved 1.50 s ago
  waiting     at least 100000 rows, some 10.0 MiB on disk, the oldest for 1 min 1 s
  rate        1234.6 rows a second over the last minute
  parked      1 refused, 2 waiting
  partitions  for 14 more days
  cleaning    up to 900 transactions are kept for the session 42 app psql

hold_id  scope  topic   key   code               refused  waiting  held_at               detail
1        key    orders  YQ==  relay-row-refused  1        2        2026-01-01T00:00:00Z  too large
";
        assert_eq!(drawn(&outbox), expected);
    }
}
