use std::fmt;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::config::ConfigError;

/// What is shown in a secret's place.
pub(crate) const REDACTED: &str = "[redacted]";

/// A value that is never printed: neither its `Debug` nor its serialised form holds it.
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// Takes a value in.
    #[must_use]
    pub fn new(value: impl Into<String>) -> Self {
        Self(SecretString::from(value.into()))
    }

    /// The value, for handing to whoever needs it and to nobody else.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// The secret that a configuration gives as `key` or, from a file, as `key_file`; read when it is asked for, so
    /// that a process needs only the files of its own roles. A line break at the file's end is no part of it.
    ///
    /// # Errors
    /// [`ConfigError::SecretFile`] when the file cannot be read.
    pub(crate) fn from_value_or_file(
        key: &'static str,
        value: Option<&Self>,
        file: Option<&PathBuf>,
    ) -> Result<Option<Self>, ConfigError> {
        match (value, file) {
            (Some(value), _) => Ok(Some(value.clone())),
            (None, Some(path)) => Self::read(key, path).map(Some),
            (None, None) => Ok(None),
        }
    }

    fn read(key: &'static str, path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|source| ConfigError::SecretFile {
            key,
            path: path.to_owned(),
            source,
        })?;
        let value = text.strip_suffix('\n').unwrap_or(&text);
        Ok(Self::new(value.strip_suffix('\r').unwrap_or(value)))
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.expose() == other.expose()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(REDACTED)
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn a_secret_is_in_no_text_that_is_made_of_it() {
        let secret = Secret::new("hunter2");
        assert!(!format!("{secret:?}").contains("hunter2"));
        assert!(!serde_json::to_string(&secret).unwrap().contains("hunter2"));
        assert_eq!(secret.expose(), "hunter2");
    }

    #[test]
    fn one_line_break_at_the_end_of_a_secrets_file_is_trimmed() {
        let path = std::env::temp_dir().join(format!("waybill-secret-{}", std::process::id()));
        for (stored, meant) in [("a b\n", "a b"), ("a\r\n", "a"), ("a\n\n", "a\n"), (" a", " a")] {
            std::fs::write(&path, stored).unwrap();
            let read = Secret::from_value_or_file("key", None, Some(&path)).unwrap().unwrap();
            assert_eq!(read.expose(), meant);
        }
        std::fs::remove_file(&path).unwrap();
    }
}
