use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use crate::config::{ConfigError, scalars};
use crate::secret::{REDACTED, Secret};

/// `[kafka]`: the cluster and how to reach it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Kafka {
    /// `host:port`, several separated by commas; also from `WAYBILL_KAFKA_BOOTSTRAP`.
    pub bootstrap: String,
    /// Written before the name of every topic and consumer group, so that installations can share a cluster.
    pub topic_prefix: String,
    /// Any setting of librdkafka, handed on as it is (security, timeouts, sizes).
    pub settings: KafkaSettings,
}

impl Default for Kafka {
    fn default() -> Self {
        Self {
            bootstrap: "127.0.0.1:9092".to_owned(),
            topic_prefix: String::new(),
            settings: KafkaSettings::default(),
        }
    }
}

impl Kafka {
    /// What every Kafka client of this process is made with: the bootstrap address, then [`Self::settings`].
    ///
    /// # Errors
    /// [`ConfigError::SecretFile`] when a setting's file cannot be read.
    pub fn client_settings(&self) -> Result<Vec<(String, String)>, ConfigError> {
        let mut settings = vec![("bootstrap.servers".to_owned(), self.bootstrap.clone())];
        settings.extend(self.settings.resolved()?);
        Ok(settings)
    }
}

/// librdkafka's settings by name. A name with `_file` at its end (`sasl.password_file`) gives a file that holds the
/// value. Values whose names speak of secrets are never printed.
#[derive(Clone, PartialEq, Default, Deserialize)]
#[serde(transparent)]
pub struct KafkaSettings(#[serde(deserialize_with = "scalars::as_texts")] BTreeMap<String, String>);

impl KafkaSettings {
    /// The value of one setting as it was configured.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    fn resolved(&self) -> Result<Vec<(String, String)>, ConfigError> {
        let mut settings = Vec::with_capacity(self.0.len());
        for (name, value) in &self.0 {
            match name.strip_suffix("_file") {
                Some(name) => {
                    let file = value.into();
                    let secret = Secret::from_value_or_file("kafka.settings.*_file", None, Some(&file))?;
                    settings.extend(secret.map(|secret| (name.to_owned(), secret.expose().to_owned())));
                }
                None => settings.push((name.clone(), value.clone())),
            }
        }
        Ok(settings)
    }

    fn shown(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| {
            let shown = if is_secret(name) { REDACTED } else { value.as_str() };
            (name.as_str(), shown)
        })
    }
}

/// Errs on the side of hiding: `ssl.key.location` is a path, and is hidden all the same.
fn is_secret(name: &str) -> bool {
    !name.ends_with("_file")
        && ["password", "secret", "ssl.key", "token", "sasl.oauthbearer.config"]
            .iter()
            .any(|word| name.contains(word))
}

impl fmt::Debug for KafkaSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.shown()).finish()
    }
}

impl Serialize for KafkaSettings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.shown())
    }
}
