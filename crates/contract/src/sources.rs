//! The CloudEvents sources as `schemas/sources.toml` declares them.
//!
//! Deliberately absent, until a producer with the legacy envelope exists: the mapping of producers to sources.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::cloud_event::is_uri_reference;
use crate::error::Malformed;
use crate::{ATTRIBUTE_BYTES_MAX, embedded};

/// The source of the facts of a deployment that does not say otherwise.
pub const DEFAULT_SOURCE: &str = "urn:waybill:exports";

/// One declared source.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The URI reference, byte for byte as in `ce_source`.
    pub source: String,
    /// Who answers for it.
    pub owner: String,
    /// How its ids are made, so that no two events of it share one.
    pub ids: String,
}

/// Why a declaration of sources is refused.
#[derive(Debug, thiserror::Error)]
pub enum SourcesError {
    /// Not the TOML that it should be; unknown keys included.
    #[error("the declared sources are not what they should be")]
    Toml(#[from] toml::de::Error),
    /// One source twice: two owners would make ids for it.
    #[error("the source {source_uri:?} is declared twice")]
    Double {
        /// The source.
        source_uri: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Declaration {
    source: Vec<Source>,
}

/// Whether a text can be the `source` of events at all. A deployment may use one that is not declared here.
pub fn check(source: &str) -> Result<(), Malformed> {
    if source.len() > ATTRIBUTE_BYTES_MAX || !is_uri_reference(source) {
        return Err(Malformed::Source);
    }
    Ok(())
}

/// The sources that this version declares, in the order of the file.
pub fn declared() -> Result<Vec<Source>, SourcesError> {
    parse(embedded::SOURCES)
}

/// The sources that a text like `schemas/sources.toml` declares.
pub fn parse(text: &str) -> Result<Vec<Source>, SourcesError> {
    let sources = toml::from_str::<Declaration>(text)?.source;
    let mut seen = BTreeSet::new();
    if let Some(double) = sources.iter().find(|source| !seen.insert(source.source.as_str())) {
        return Err(SourcesError::Double { source_uri: double.source.clone() });
    }
    Ok(sources)
}
