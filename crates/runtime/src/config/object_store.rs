use serde::{Deserialize, Serialize};

/// `[object_store]`: where candidates and results lie.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ObjectStore {
    /// `file:///absolute/path`. The api, the worker and the reconciler must see the same place.
    pub url: String,
}

impl Default for ObjectStore {
    fn default() -> Self {
        Self { url: "file:///var/lib/waybill/objects".to_owned() }
    }
}
