//! The way of one export as a table, from its stored facts.

use serde_json::Value;

use super::tale::text;

/// One line a step: when it was since the acceptance, how long after the step before it, and what is known of it.
pub(super) fn table(timeline: &Value) -> String {
    let mut lines = vec![format!("{:>10}  {:>10}  step", "since", "took")];
    for step in timeline["steps"].as_array().into_iter().flatten() {
        let (since, took) = (&step["since_accepted_ms"], &step["since_previous_ms"]);
        lines.push(format!("{:>10}  {:>10}  {}", millis(since), millis(took), sentence(step)));
    }
    lines.join("\n")
}

fn millis(value: &Value) -> String {
    value.as_f64().map(|millis| format!("{millis:.1} ms")).unwrap_or_default()
}

fn sentence(step: &Value) -> String {
    let fence = || step["fence"].as_i64().unwrap_or(0);
    match text(&step["step"]) {
        "accepted" => "accepted".to_owned(),
        "command-acknowledged" => "command acknowledged by Kafka".to_owned(),
        "claimed" => format!("claimed (fence {})", fence()),
        "candidate-verified" => format!("candidate written and verified ({} rows)", step["rows"]),
        "result-selected" => "result selected".to_owned(),
        "fact-acknowledged" => format!("fact acknowledged by Kafka ({})", text(&step["type"])),
        "search-applied" => "search has it".to_owned(),
        "stats-applied" => "statistics have it".to_owned(),
        "notified" => format!("notified by {}: {}", text(&step["channel"]), text(&step["state"])),
        other => other.to_owned(),
    }
}
