use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use crate::config::scalars;
use crate::secret::REDACTED;

/// `[object_store]`: where candidates and results lie.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ObjectStore {
    /// `file:///absolute/path`, `s3://bucket/prefix`, `gs://bucket/prefix` or `az://container/prefix`. The api, the worker
    /// and the reconciler must see the same place.
    pub url: String,
    /// Any setting of the cloud's client by its name, such as `aws_endpoint`; before the usual variables of the environment.
    pub settings: StoreSettings,
}

impl Default for ObjectStore {
    fn default() -> Self {
        Self { url: "file:///var/lib/waybill/objects".to_owned(), settings: StoreSettings::default() }
    }
}

/// Settings of a cloud's client by name. Values are never printed but where their names say that they are harmless.
#[derive(Clone, PartialEq, Default, Deserialize)]
#[serde(transparent)]
pub struct StoreSettings(#[serde(deserialize_with = "scalars::as_texts")] BTreeMap<String, String>);

impl StoreSettings {
    /// Each name and its value.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    fn shown(&self) -> impl Iterator<Item = (&str, &str)> {
        self.iter().map(|(name, value)| (name, if is_harmless(name) { value } else { REDACTED }))
    }
}

/// Errs on the side of hiding: what is not known to be harmless is taken for a secret.
fn is_harmless(name: &str) -> bool {
    ["endpoint", "endpoint_url", "region", "allow_http", "virtual_hosted_style_request", "account_name"]
        .iter()
        .any(|end| name.ends_with(end))
}

impl fmt::Debug for StoreSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.shown()).finish()
    }
}

impl Serialize for StoreSettings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.shown())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_a_text_however_it_is_written() {
        let settings: StoreSettings =
            toml::from_str("aws_allow_http = true\naws_region = \"us-east-1\"").expect("settings");
        assert_eq!(
            settings.iter().collect::<Vec<_>>(),
            [("aws_allow_http", "true"), ("aws_region", "us-east-1")]
        );
    }

    #[test]
    fn only_what_is_known_to_be_harmless_is_shown() {
        let settings = [
            ("aws_endpoint", "http://127.0.0.1:9000"),
            ("aws_secret_access_key", "hunter2"),
            ("azure_storage_sas_key", "hunter3"),
            ("something_new", "hunter4"),
        ];
        let settings = StoreSettings(
            settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        );
        let shown = format!("{settings:?}{}", serde_json::to_string(&settings).unwrap());
        assert!(shown.contains("http://127.0.0.1:9000") && !shown.contains("hunter"), "{shown}");
    }
}
