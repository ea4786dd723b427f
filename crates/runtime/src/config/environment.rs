//! `WAYBILL_<SECTION>__<KEY>`: one value of the file, in the environment.

use toml::{Table, Value};

use super::error::{ConfigError, Place};
use super::known::{Known, KnownKeys};

const PREFIX: &str = "WAYBILL_";
const SEPARATOR: &str = "__";

/// Variables that begin like a section's and are none: shorthands, and the operator commands' own.
const SHORTHANDS: &[(&str, &[&str])] = &[
    ("WAYBILL_POSTGRES_URL", &["admin", "postgres_url"]),
    ("WAYBILL_KAFKA_BOOTSTRAP", &["kafka", "bootstrap"]),
];
const NOT_CONFIG: &[&str] = &["WAYBILL_CONFIG", "WAYBILL_API_URL", "WAYBILL_API_KEY", "WAYBILL_FAULT_POINT"];

/// One value that the environment gives.
pub(super) struct Override {
    pub(super) variable: String,
    pub(super) path: Vec<String>,
    pub(super) value: Value,
}

/// The overrides of an environment. A shorthand gives way to the long form, whatever their order.
pub(super) fn overrides(
    known: &KnownKeys,
    environment: impl IntoIterator<Item = (String, String)>,
) -> Result<Vec<Override>, ConfigError> {
    let mut environment: Vec<_> =
        environment.into_iter().filter(|(name, _)| name.starts_with(PREFIX)).collect();
    environment.sort_by_key(|(name, _)| (name.contains(SEPARATOR), name.clone()));
    let mut overrides = Vec::new();
    for (variable, text) in environment {
        if NOT_CONFIG.contains(&variable.as_str()) {
            continue;
        }
        let Some(path) = path_of(known, &variable)? else { continue };
        let value = value_of(known, &variable, &path, text)?;
        overrides.push(Override { variable, path, value });
    }
    Ok(overrides)
}

/// Puts a value where its path says.
pub(super) fn set(table: &mut Table, path: &[String], value: Value) {
    let Some((last, parents)) = path.split_last() else { return };
    let mut table = table;
    for parent in parents {
        let child = table.entry(parent.as_str()).or_insert_with(|| Value::Table(Table::new()));
        // The file was checked before: a name of a table holds a table.
        let Value::Table(child) = child else { return };
        table = child;
    }
    table.insert(last.clone(), value);
}

/// The keys that a variable names, or none when it is not about the configuration.
fn path_of(known: &KnownKeys, variable: &str) -> Result<Option<Vec<String>>, ConfigError> {
    if let Some((_, path)) = SHORTHANDS.iter().find(|(name, _)| *name == variable) {
        return Ok(Some(path.iter().map(ToString::to_string).collect()));
    }
    let rest = variable.strip_prefix(PREFIX).unwrap_or(variable);
    let mut path: Vec<String> = rest.split(SEPARATOR).map(str::to_ascii_lowercase).collect();
    if path.len() >= 3 && path[0] == "kafka" && path[1] == "settings" {
        // No shell lets a variable's name hold the dots that librdkafka's settings have.
        let setting = path.split_off(2).join(SEPARATOR).replace('_', ".");
        path.push(setting);
    }
    let keys: Vec<_> = path.iter().map(String::as_str).collect();
    match known.get(&keys) {
        Known::Value(_) => Ok(Some(path)),
        Known::PassThrough if path.len() == if keys[0] == "relay" { 4 } else { 3 } => Ok(Some(path)),
        Known::Table | Known::PassThrough | Known::Unknown if path.len() > 1 => {
            Err(unknown(known, variable, &keys))
        }
        // One underscore where two belong: `WAYBILL_RELAY_LEASE_MS`.
        Known::Table | Known::PassThrough | Known::Unknown => match rest.to_ascii_lowercase().split_once('_')
        {
            Some((section, _)) if known.get(&[section]) == Known::Table => {
                Err(unknown(known, variable, &keys))
            }
            _ => Ok(None),
        },
    }
}

fn unknown(known: &KnownKeys, variable: &str, keys: &[&str]) -> ConfigError {
    let nearest = known.nearest(keys).map(|path| {
        let path: Vec<_> = path.split('.').map(str::to_ascii_uppercase).collect();
        format!("{PREFIX}{}", path.join(SEPARATOR))
    });
    ConfigError::UnknownKey { place: Place::Variable(variable.to_owned()), key: keys.join("."), nearest }
}

/// Reads the text as the type that the key's default has.
fn value_of(known: &KnownKeys, variable: &str, path: &[String], text: String) -> Result<Value, ConfigError> {
    let invalid = |expected: &str| ConfigError::Invalid {
        place: Place::Variable(variable.to_owned()),
        // The text itself may be a secret that was put into the wrong variable.
        message: format!("expected {expected}"),
    };
    let keys: Vec<_> = path.iter().map(String::as_str).collect();
    match known.get(&keys) {
        Known::Value(default) if default.is_number() => {
            text.trim().parse().map(Value::Integer).map_err(|_not_a_number| invalid("a whole number"))
        }
        Known::Value(default) if default.is_boolean() => {
            text.trim().parse().map(Value::Boolean).map_err(|_not_a_boolean| invalid("true or false"))
        }
        Known::Value(_) | Known::Table | Known::PassThrough | Known::Unknown => Ok(Value::String(text)),
    }
}
