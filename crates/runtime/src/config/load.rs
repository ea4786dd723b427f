use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

use super::error::{ConfigError, Place};
use super::known::{Known, KnownKeys};
use super::{Config, environment};

/// The file that is read when it is there and none was asked for.
pub const DEFAULT_FILE: &str = "waybill.toml";

impl Config {
    /// Reads the file that was asked for (`--config`, else `WAYBILL_CONFIG`), or [`DEFAULT_FILE`] if there is one, and
    /// then the environment; checks what must hold between values.
    ///
    /// # Errors
    /// [`ConfigError`], which names the first key that is wrong and where it stands.
    pub fn load(asked_for: Option<&Path>) -> Result<Self, ConfigError> {
        let asked_for =
            asked_for.map(Path::to_owned).or_else(|| std::env::var_os("WAYBILL_CONFIG").map(PathBuf::from));
        let path = asked_for.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_FILE));
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if asked_for.is_none() && error.kind() == std::io::ErrorKind::NotFound => {
                String::new()
            }
            Err(source) => return Err(ConfigError::Unreadable { path, source }),
        };
        // A name that is no Unicode cannot be one of ours.
        let environment = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
        });
        Self::from_sources(&path, &text, environment)
    }

    /// The configuration that a file's text and an environment give; `path` is only named in errors.
    ///
    /// # Errors
    /// [`ConfigError`], which names the first key that is wrong and where it stands.
    pub fn from_sources(
        path: &Path,
        text: &str,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let known = KnownKeys::new();
        let mut table = read_file(&known, path, text)?;
        let mut config = deserialize(&table).map_err(|error| in_file(path, text, &error))?;
        for given in environment::overrides(&known, environment)? {
            environment::set(&mut table, &given.path, given.value);
            config = deserialize(&table).map_err(|error| ConfigError::Invalid {
                place: Place::Variable(given.variable),
                message: error.message().to_owned(),
            })?;
        }
        config.complete();
        config.assert_relations()?;
        Ok(config)
    }
}

fn deserialize(table: &Table) -> Result<Config, toml::de::Error> {
    Config::deserialize(Value::Table(table.clone()))
}

/// The file's values, once all of its keys are known and every value has its key's type.
fn read_file(known: &KnownKeys, path: &Path, text: &str) -> Result<Table, ConfigError> {
    let document = DeTable::parse(text).map_err(|error| in_file(path, text, &error))?;
    refuse_unknown(known, path, text, document.get_ref(), &mut Vec::new())?;
    // Read from the text, not from the tree of values, because only the text knows where a wrong value stands.
    toml::from_str::<Config>(text).map_err(|error| in_file(path, text, &error))?;
    toml::from_str(text).map_err(|error| in_file(path, text, &error))
}

fn refuse_unknown<'a>(
    known: &KnownKeys,
    path: &Path,
    text: &str,
    table: &'a DeTable<'_>,
    parents: &mut Vec<&'a str>,
) -> Result<(), ConfigError> {
    for (key, value) in table {
        parents.push(key.get_ref());
        match (known.get(parents), value.get_ref()) {
            (Known::Unknown, _) => {
                return Err(ConfigError::UnknownKey {
                    place: Place::in_file(path, text, key.span().start),
                    key: parents.join("."),
                    nearest: known.nearest(parents),
                });
            }
            (Known::Table, DeValue::Table(table)) => refuse_unknown(known, path, text, table, parents)?,
            // A value in a table's place, or the other way round, is for the deserialiser to refuse.
            (Known::Table | Known::Value(_) | Known::PassThrough, _) => {}
        }
        parents.pop();
    }
    Ok(())
}

fn in_file(path: &Path, text: &str, error: &toml::de::Error) -> ConfigError {
    let byte = error.span().map_or(0, |span| span.start);
    ConfigError::Invalid {
        place: Place::in_file(path, text, byte),
        message: error.message().trim().to_owned(),
    }
}
