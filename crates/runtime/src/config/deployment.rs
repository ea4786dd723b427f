use serde::{Deserialize, Serialize};

/// `[deployment]`: who this installation is to the systems that read its facts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Deployment {
    /// The CloudEvents `source` of every fact and command. With a fact's id it is the fact's identity, so it must
    /// never change once the first fact is out.
    pub source: String,
}

impl Default for Deployment {
    fn default() -> Self {
        Self { source: "urn:waybill:exports".to_owned() }
    }
}
