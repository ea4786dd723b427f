//! Which keys exist: the defaults themselves, written out as a tree, so that no second list can disagree with the
//! structs.

use serde_json::Value;

use crate::config::Config;

/// A spelling further away than this from every valid key gets no suggestion.
const SUGGESTION_DISTANCE_MIN: f64 = 0.6;

/// The tree of valid keys.
pub(super) struct KnownKeys(Value);

/// What a path of keys leads to.
#[derive(Debug, PartialEq)]
pub(super) enum Known<'a> {
    /// A table with keys of its own.
    Table,
    /// A value, with its default.
    Value(&'a Value),
    /// A table whose keys are somebody else's, or a key in it.
    PassThrough,
    /// Nothing.
    Unknown,
}

impl KnownKeys {
    pub(super) fn new() -> Self {
        // A struct of plain fields always has a JSON form; were it not so, every key would be refused and a test fail.
        Self(serde_json::to_value(Config::default()).unwrap_or_default())
    }

    /// What `path` leads to.
    pub(super) fn get(&self, path: &[&str]) -> Known<'_> {
        let others: [&[&str]; 4] =
            [&["kafka", "settings"], &["object_store", "settings"], &["relay", "outboxes"], &["sources"]];
        if others.iter().any(|parents| path.starts_with(parents)) {
            return Known::PassThrough;
        }
        let mut value = &self.0;
        for key in path {
            match value.get(key) {
                Some(child) => value = child,
                None => return Known::Unknown,
            }
        }
        if value.is_object() { Known::Table } else { Known::Value(value) }
    }

    /// The valid path that looks most like `path`.
    pub(super) fn nearest(&self, path: &[&str]) -> Option<String> {
        let wanted = path.join(".");
        let mut paths = Vec::new();
        collect(&self.0, "", &mut paths);
        paths
            .into_iter()
            .map(|known| (strsim::normalized_damerau_levenshtein(&wanted, &known), known))
            .filter(|(likeness, _)| *likeness >= SUGGESTION_DISTANCE_MIN)
            .max_by(|(one, _), (other, _)| one.total_cmp(other))
            .map(|(_, known)| known)
    }
}

fn collect(value: &Value, prefix: &str, paths: &mut Vec<String>) {
    for (key, child) in value.as_object().into_iter().flatten() {
        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        collect(child, &path, paths);
        paths.push(path);
    }
}
