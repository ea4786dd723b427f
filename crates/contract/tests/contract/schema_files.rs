//! The files under `schemas/` are what the code takes them for.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use waybill_contract::{CommandReason, DEFAULT_SOURCE, Schemas, sources};
use waybill_domain::export::Channel;
use waybill_domain::job::JobState;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../schemas")
}

/// Every `SUBJECT/VERSION.avsc`, as (subject, version, schema).
fn files() -> Vec<(String, u32, Value)> {
    let mut files = Vec::new();
    for subject in fs::read_dir(folder()).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_dir()) {
        for file in fs::read_dir(subject.path()).unwrap().map(Result::unwrap) {
            let version = file.path().file_stem().unwrap().to_str().unwrap().parse().unwrap();
            let schema = serde_json::from_str(&fs::read_to_string(file.path()).unwrap()).unwrap();
            files.push((subject.file_name().into_string().unwrap(), version, schema));
        }
    }
    files.sort_by(|one, other| (&one.0, one.1).cmp(&(&other.0, other.1)));
    files
}

#[test]
fn the_lock_fits_the_embedded_files() {
    Schemas::embedded().unwrap();
}

#[test]
fn every_file_is_locked_once_and_every_lock_has_its_file() {
    let lock: toml::Table =
        toml::from_str(&fs::read_to_string(folder().join("dev.lock.toml")).unwrap()).unwrap();
    let locked: Vec<(String, u32)> = lock["schema"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| {
            let version = line["version"].as_integer().unwrap().try_into().unwrap();
            (line["subject"].as_str().unwrap().to_owned(), version)
        })
        .collect();
    let unique: BTreeSet<(String, u32)> = locked.iter().cloned().collect();
    assert_eq!(unique.len(), locked.len());
    assert_eq!(unique, files().into_iter().map(|(subject, version, _)| (subject, version)).collect());
}

#[test]
fn a_subject_is_the_full_name_of_its_record() {
    for (subject, _, schema) in files() {
        let name = format!("{}.{}", schema["namespace"].as_str().unwrap(), schema["name"].as_str().unwrap());
        assert_eq!(subject, name);
    }
}

#[test]
fn everything_that_has_a_name_has_a_doc() {
    fn check(value: &Value, path: &str) {
        match value {
            Value::Object(members) => {
                let name = members.get("name").map_or(path.to_owned(), |name| format!("{path}/{name}"));
                let documented =
                    members.get("doc").and_then(Value::as_str).is_some_and(|doc| doc.ends_with('.'));
                assert!(documented || !members.contains_key("name"), "{name} has no doc");
                members.values().for_each(|member| check(member, &name));
            }
            Value::Array(items) => items.iter().for_each(|item| check(item, path)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    for (subject, _, schema) in files() {
        check(&schema, &subject);
    }
}

/// The symbols of a named enum, wherever in a schema it is.
fn symbols(name: &str) -> Vec<String> {
    fn find<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
        match value {
            Value::Object(members) if value["name"] == name && members.contains_key("symbols") => {
                Some(&value["symbols"])
            }
            Value::Object(members) => members.values().find_map(|member| find(member, name)),
            Value::Array(items) => items.iter().find_map(|item| find(item, name)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        }
    }
    let files = files();
    let found = files.iter().find_map(|(_, _, schema)| find(schema, name)).unwrap();
    found.as_array().unwrap().iter().map(|symbol| symbol.as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_symbols_are_the_stored_spellings() {
    assert_eq!(symbols("ExportState"), JobState::ALL.map(JobState::as_str));
    assert_eq!(symbols("NotifyChannel"), Channel::ALL.map(Channel::as_str));
    assert_eq!(symbols("CommandReason"), CommandReason::ALL.map(CommandReason::as_str));
}

#[test]
fn the_default_source_is_declared() {
    assert!(sources::declared().unwrap().iter().any(|declared| declared.source == DEFAULT_SOURCE));
    assert!(sources::parse("[[source]]\nsource = 'a'\nowner = 'b'\nids = 'c'\nalias = 'd'").is_err());
    let double = "[[source]]\nsource = 'a'\nowner = 'b'\nids = 'c'\n".repeat(2);
    assert!(matches!(sources::parse(&double), Err(sources::SourcesError::Double { .. })));
}

#[test]
fn every_declared_source_can_be_one() {
    for declared in sources::declared().unwrap() {
        sources::check(&declared.source).unwrap();
    }
    assert!(sources::check("").is_err());
    assert!(sources::check(&"a".repeat(2_000)).is_err());
}
