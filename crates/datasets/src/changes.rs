//! In what one state of a data set differs from the one before it, for people.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::revision::Revision;

/// A line for each thing that is not what it was; none where nothing changed.
#[must_use]
pub fn changes(before: Option<&Revision>, after: &Revision) -> Vec<String> {
    let before = before.map(facts).unwrap_or_default();
    let after = facts(after);
    let mut lines = Vec::new();
    for (place, value) in &before {
        match after.get(place) {
            None => lines.push(format!("- {place}: {value}")),
            Some(now) if now != value => lines.push(format!("~ {place}: {value} -> {now}")),
            Some(_) => {}
        }
    }
    lines.extend(
        after
            .iter()
            .filter(|(place, _)| !before.contains_key(*place))
            .map(|(place, value)| format!("+ {place}: {value}")),
    );
    lines
}

/// Everything about a revision, each thing under a name of its own.
fn facts(revision: &Revision) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    let declaration = &revision.declaration;
    let mut value = serde_json::to_value(declaration).unwrap_or_default();
    if let Some(members) = value.as_object_mut() {
        members.remove("columns");
    }
    flatten("", &value, &mut facts);
    let columns: Vec<&str> = declaration.columns.iter().map(|column| column.name.as_str()).collect();
    facts.insert("columns".to_owned(), json!(columns).to_string());
    for column in &declaration.columns {
        let place = format!("columns.{}", column.name);
        if column.as_text {
            facts.insert(format!("{place}.as"), "text".to_owned());
        }
        if let Some(description) = &column.description {
            facts.insert(format!("{place}.description"), description.clone());
        }
    }
    for column in &revision.columns {
        facts.insert(format!("types.{}", column.name), column.type_name.clone());
        if !column.labels.is_empty() {
            facts.insert(format!("types.{}.labels", column.name), json!(column.labels).to_string());
        }
    }
    facts
}

fn flatten(place: &str, value: &Value, facts: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                flatten(&place, member, facts);
            }
        }
        Value::Null => {}
        Value::String(text) => drop(facts.insert(place.to_owned(), text.clone())),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            facts.insert(place.to_owned(), value.to_string());
        }
    }
}
