//! The secrets that a stack made for itself, readable by their owner alone.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use rand::Rng;
use rand::distr::Alphanumeric;

use crate::error::{DevstackError, OnPath};
use crate::layout::Layout;

/// Characters of a generated secret: 190 bits.
const SECRET_CHARACTERS: usize = 32;

/// `<stack>/credentials`, a TOML file of names and secrets.
#[derive(Clone)]
pub struct Credentials {
    path: PathBuf,
    by_name: BTreeMap<String, String>,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Credentials").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Credentials {
    /// Reads what was made before.
    ///
    /// # Errors
    /// When the file does not read back.
    pub fn load(layout: &Layout) -> Result<Self, DevstackError> {
        let path = layout.dir().join("credentials");
        let by_name = match fs::read_to_string(&path) {
            Ok(text) => toml::from_str(&text).map_err(|error| DevstackError::Damaged {
                path: path.clone(),
                detail: error.message().to_owned(),
            })?,
            Err(_) => BTreeMap::new(),
        };
        Ok(Self { path, by_name })
    }

    /// The secret of that name, if there is one.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.by_name.get(name).map(String::as_str)
    }

    /// The secret of that name, made and kept if there is none yet.
    ///
    /// # Errors
    /// When it cannot be kept.
    pub fn get_or_make(&mut self, name: &str) -> Result<String, DevstackError> {
        if let Some(secret) = self.get(name) {
            return Ok(secret.to_owned());
        }
        let letters = rand::rng().sample_iter(Alphanumeric).take(SECRET_CHARACTERS);
        let secret: String = letters.map(char::from).collect();
        self.set(name, &secret)?;
        Ok(secret)
    }

    /// Keeps a secret that somebody else made.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn set(&mut self, name: &str, secret: &str) -> Result<(), DevstackError> {
        self.by_name.insert(name.to_owned(), secret.to_owned());
        let text = toml::to_string(&self.by_name).unwrap_or_default();
        let partial = self.path.with_extension("partial");
        let mut options = File::options();
        let mut file = options
            .create(true)
            .write(true)
            .truncate(true)
            .mode(0o600)
            .open(&partial)
            .on("write", &partial)?;
        file.write_all(text.as_bytes()).on("write", &partial)?;
        fs::rename(&partial, &self.path).on("complete", &self.path)
    }
}
