//! The way of an export, drawn: one line a step, durations under one another.

use serde_json::Value;

use super::super::text;
use super::duration;

/// What stands in place of a time that has not come.
const NOT_YET: &str = "·";

/// The drawing of a timeline that the api answered.
pub(super) fn drawn(timeline: &Value) -> String {
    let mut rows = vec![["step", "after the step before", "after acceptance", ""].map(str::to_owned)];
    for step in timeline["steps"].as_array().into_iter().flatten() {
        let since = |member: &str| {
            let reached = step["at"].is_string();
            let none = if reached { String::new() } else { NOT_YET.to_owned() };
            step[member].as_f64().map_or(none, duration::shown)
        };
        rows.push([name(step), since("since_previous_ms"), since("since_accepted_ms"), details(step)]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    let mut drawing = String::new();
    for [step, since_previous, since_accepted, details] in &rows {
        let [first, second, third] = widths;
        let line =
            format!("  {step:<first$}  {since_previous:>second$}  {since_accepted:>third$}  {details}");
        drawing.push_str(line.trim_end());
        drawing.push('\n');
    }
    if let Some(unavailable) = timeline["unavailable"].as_array().filter(|schemas| !schemas.is_empty()) {
        let schemas: Vec<String> = unavailable.iter().map(text::of).collect();
        drawing.push_str(&format!("  not known just now: {}\n", schemas.join(", ")));
    }
    drawing
}

/// The step in words, with what tells two of its kind apart.
fn name(step: &Value) -> String {
    let words = text::of(&step["step"]).replace('-', " ");
    match (words.as_str(), step["channel"].as_str()) {
        ("notified", Some(channel)) => format!("notified by {channel}"),
        _ => words,
    }
}

/// What is known of a step beyond its time.
fn details(step: &Value) -> String {
    let number = |member: &str| step[member].as_i64();
    let word = |member: &str| step[member].as_str();
    let mut parts = Vec::new();
    parts.extend(number("number").map(|number| format!("attempt {number}")));
    parts.extend(number("fence").map(|fence| format!("fence {fence}")));
    parts.extend(
        ["dataset", "worker", "reason", "type", "target", "state", "code", "error_code"]
            .map(word)
            .into_iter()
            .flatten()
            .map(str::to_owned),
    );
    parts.extend(number("rows").map(|rows| format!("{rows} rows")));
    parts.extend(number("bytes").map(duration::bytes));
    parts.extend(number("version").map(|version| format!("version {version}")));
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::drawn;

    #[test]
    fn durations_stand_under_one_another_and_steps_to_come_have_none() {
        let timeline = json!({ "steps": [
            { "step": "accepted", "at": "2026-01-01T00:00:00Z", "since_previous_ms": null, "since_accepted_ms": 0.0,
              "dataset": "orders" },
            { "step": "claimed", "at": "2026-01-01T00:00:01Z", "since_previous_ms": 12.5, "since_accepted_ms": 1012.5,
              "fence": 1, "worker": "w1" },
            { "step": "notified", "at": null, "since_previous_ms": null, "since_accepted_ms": null,
              "channel": "email", "target": "a@example.org", "state": "pending", "attempts": 0 },
        ], "unavailable": ["stats"] });
        let expected = "  step               after the step before  after acceptance
  accepted                                            0.0 ms  orders
  claimed                          12.5 ms            1.01 s  fence 1, w1
  notified by email                      ·                 ·  a@example.org, pending
  not known just now: stats
";
        assert_eq!(drawn(&timeline), expected);
    }
}
