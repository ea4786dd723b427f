use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize};

use crate::config::{ConfigError, DatabaseUrl};
use crate::secret::Secret;

/// The longest name of a source in characters.
const NAME_CHARS_MAX: usize = 63;

/// `[sources.<name>]`: the databases that data sets lie in, by the names that their files say.
pub type Sources = BTreeMap<String, Source>;

/// One database that exports read from. A replica will do, and a login that may only read should.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The database's address, with or without a user.
    pub url: DatabaseUrl,
    /// The login that reads; none means the address's, or the worker's where that has none.
    #[serde(default)]
    pub user: Option<String>,
    /// Its password.
    #[serde(default)]
    pub password: Option<Secret>,
    /// A file that holds the password.
    #[serde(default)]
    pub password_file: Option<PathBuf>,
}

impl Source {
    /// The password, read from its file if it lies in one.
    ///
    /// # Errors
    /// [`ConfigError::SecretFile`] when the file cannot be read.
    pub fn password(&self) -> Result<Option<Secret>, ConfigError> {
        let key = "sources.*.password_file";
        Secret::from_value_or_file(key, self.password.as_ref(), self.password_file.as_ref())
    }
}

/// The table of sources, whose keys are names.
pub(super) fn named<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Sources, D::Error> {
    let sources = Sources::deserialize(deserializer)?;
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
    for (name, source) in &sources {
        if source.password.is_some() && source.password_file.is_some() {
            let message = format!("`password` and `password_file` of `{name}` are both set; keep one");
            return Err(serde::de::Error::custom(message));
        }
        if !(1..=NAME_CHARS_MAX).contains(&name.len()) || !name.bytes().all(legal) {
            let message = format!("`{name}` can be no source's name: 1 to {NAME_CHARS_MAX} of a-z 0-9 _ -");
            return Err(serde::de::Error::custom(message));
        }
    }
    Ok(sources)
}
