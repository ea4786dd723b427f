use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize};

use crate::config::{ConfigError, DatabaseUrl};
use crate::secret::Secret;

/// What the product's own outbox is called, which no other can be.
pub const MAIN_OUTBOX: &str = "main";

/// The longest name of an outbox in characters: it is a metric's label and part of a component's name.
const NAME_CHARS_MAX: usize = 32;

/// `[relay.outboxes.<name>]`: outboxes of other services, each in its own database.
pub type Outboxes = BTreeMap<String, Outbox>;

/// Where the outbox of another service is, as `waybill outbox install` made it, and who works on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outbox {
    /// The database's address, without a user.
    pub url: DatabaseUrl,
    /// The schema.
    #[serde(deserialize_with = "schema_name")]
    pub schema: String,
    /// The login that was installed as `--relay`.
    pub user: String,
    /// Its password.
    #[serde(default)]
    pub password: Option<Secret>,
    /// A file that holds the password.
    #[serde(default)]
    pub password_file: Option<PathBuf>,
}

impl Outbox {
    /// The password, read from its file if it lies in one.
    ///
    /// # Errors
    /// [`ConfigError::SecretFile`] when the file cannot be read.
    pub fn password(&self) -> Result<Option<Secret>, ConfigError> {
        let key = "relay.outboxes.*.password_file";
        Secret::from_value_or_file(key, self.password.as_ref(), self.password_file.as_ref())
    }
}

/// The table of outboxes, whose keys are names.
pub(super) fn named<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Outboxes, D::Error> {
    let outboxes = Outboxes::deserialize(deserializer)?;
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    for (name, outbox) in &outboxes {
        if name == MAIN_OUTBOX {
            return Err(serde::de::Error::custom(
                "`main` is the product's own outbox, in the export database: give this one another name",
            ));
        }
        if outbox.password.is_some() && outbox.password_file.is_some() {
            let message = format!("`password` and `password_file` of `{name}` are both set; keep one");
            return Err(serde::de::Error::custom(message));
        }
        if !(1..=NAME_CHARS_MAX).contains(&name.len()) || !name.bytes().all(legal) {
            let message = format!("`{name}` can be no outbox's name: 1 to {NAME_CHARS_MAX} of a-z 0-9 -");
            return Err(serde::de::Error::custom(message));
        }
    }
    Ok(outboxes)
}

/// A name that may stand in a `search_path` as it is; `waybill outbox install` takes no other.
fn schema_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let name = String::deserialize(deserializer)?;
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let fine =
        (1..=63).contains(&name.len()) && name.bytes().all(legal) && !name.as_bytes()[0].is_ascii_digit();
    if fine { Ok(name) } else { Err(serde::de::Error::custom(format!("`{name}` can be no outbox's schema"))) }
}
