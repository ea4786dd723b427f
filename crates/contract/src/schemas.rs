//! The schemas that this version knows, by the id that the registry gave them.

use std::collections::BTreeMap;

use apache_avro::Schema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{ContractError, EncodeError, Malformed, UnknownSchemaId};
use crate::lock::{self, Lock, Locked};
use crate::{avro, embedded, wire_format};

/// Why the embedded schemas cannot be used. Tests see to it that a build has none of these.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// The lock is not the TOML that it should be.
    #[error("the schema lock is not what it should be")]
    Lock(#[from] toml::de::Error),
    /// The lock names a schema that is not embedded.
    #[error("the lock names {subject} version {version}, which is not under schemas/")]
    NotEmbedded {
        /// The subject.
        subject: String,
        /// The version.
        version: u32,
    },
    /// The file was edited after it was locked, or the other way round.
    #[error("{subject} version {version} is not what the lock says: its sha256 is {actual}")]
    Changed {
        /// The subject.
        subject: String,
        /// The version.
        version: u32,
        /// The fingerprint of the file.
        actual: String,
    },
    /// One id for two schemas.
    #[error("the lock gives the id {id} twice")]
    DoubleId {
        /// The id.
        id: u32,
    },
    /// The file is not JSON.
    #[error("{subject} version {version} is not JSON")]
    Json {
        /// The subject.
        subject: String,
        /// The version.
        version: u32,
        /// Where it stops being JSON.
        source: serde_json::Error,
    },
    /// The file is not an Avro schema.
    #[error("{subject} version {version} is not an Avro schema")]
    Avro {
        /// The subject.
        subject: String,
        /// The version.
        version: u32,
        /// What is wrong with it.
        source: Box<apache_avro::Error>,
    },
}

/// The schemas under `schemas/` with the ids of the checked-in lock.
///
/// Cheap enough to make once a process; shared by reference or in an `Arc`.
#[derive(Debug)]
pub struct Schemas {
    by_id: BTreeMap<u32, Known>,
}

#[derive(Debug)]
struct Known {
    subject: String,
    version: u32,
    schema: Schema,
}

impl Schemas {
    /// The schemas of this build, each compared with its line in the lock.
    pub fn embedded() -> Result<Self, SchemaError> {
        avro::bound_allocations();
        let lock: Lock = toml::from_str(embedded::LOCK)?;
        let mut by_id = BTreeMap::new();
        for locked in lock.schemas {
            let id = locked.id;
            if by_id.insert(id, Known::load(locked)?).is_some() {
                return Err(SchemaError::DoubleId { id });
            }
        }
        Ok(Self { by_id })
    }

    /// A record's value: `record` in the newest known schema of `subject`, in the wire format.
    pub(crate) fn encode<T: Serialize>(
        &self,
        subject: &'static str,
        record: &T,
    ) -> Result<Vec<u8>, EncodeError> {
        let newest = self.by_id.iter().filter(|(_, known)| known.subject == subject);
        let (id, known) =
            newest.max_by_key(|(_, known)| known.version).ok_or(EncodeError::NoSchema { subject })?;
        let mut payload = wire_format::begin(*id);
        avro::append(&mut payload, &known.schema, record).map_err(|e| EncodeError::Avro(Box::new(e)))?;
        if payload.len() > wire_format::PAYLOAD_BYTES_MAX {
            let bytes_max = wire_format::PAYLOAD_BYTES_MAX;
            return Err(EncodeError::TooLarge { bytes: payload.len(), bytes_max });
        }
        Ok(payload)
    }

    /// The record in a value that was written with any known schema of `subject`.
    pub(crate) fn decode<T: DeserializeOwned>(
        &self,
        subject: &'static str,
        payload: Option<&[u8]>,
    ) -> Result<T, ContractError> {
        let (id, data) = wire_format::split(payload)?;
        let known = self.by_id.get(&id).ok_or(UnknownSchemaId { id })?;
        if known.subject != subject {
            return Err(
                Malformed::SchemaUnexpected { id, found: known.subject.clone(), wanted: subject }.into()
            );
        }
        Ok(avro::read(data, &known.schema)?)
    }
}

impl Known {
    fn load(locked: Locked) -> Result<Self, SchemaError> {
        let Locked { subject, version, sha256, .. } = locked;
        let file = embedded::SCHEMA_FILES.iter().find(|file| file.0 == subject && file.1 == version);
        let Some((_, _, text)) = file else {
            return Err(SchemaError::NotEmbedded { subject, version });
        };
        let actual = match lock::fingerprint(text) {
            Ok(actual) => actual,
            Err(source) => return Err(SchemaError::Json { subject, version, source }),
        };
        if actual != sha256 {
            return Err(SchemaError::Changed { subject, version, actual });
        }
        match Schema::parse_str(text) {
            Ok(schema) => Ok(Self { subject, version, schema }),
            Err(source) => Err(SchemaError::Avro { subject, version, source: Box::new(source) }),
        }
    }
}
