//! Settings that are handed on to somebody's client as texts, whichever way TOML lets people write them.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar {
    Text(String),
    Boolean(bool),
    Integer(i64),
}

/// A table of scalars, each as a text.
pub(super) fn as_texts<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, String>, D::Error> {
    let settings = BTreeMap::<String, Scalar>::deserialize(deserializer)?;
    let text = |value| match value {
        Scalar::Text(text) => text,
        Scalar::Boolean(boolean) => boolean.to_string(),
        Scalar::Integer(integer) => integer.to_string(),
    };
    Ok(settings.into_iter().map(|(name, value)| (name, text(value))).collect())
}
