//! CloudEvents envelopes and Avro codecs of the facts and commands that Waybill publishes.
//!
//! A fact or a command is a Kafka record in CloudEvents' binary mode (CloudEvents 1.0.2, Kafka Protocol Binding,
//! section 3.2): the attributes are headers, the value is Avro in Confluent's wire format. `docs/contract.md` says it to
//! producers and consumers of other teams.
//!
//! Deliberately absent: Kafka, Postgres, a schema registry and any clock. Decoding is strict, because what it lets
//! through is written into five schemas: a record is either exactly what the contract says or has a named reason why
//! not.

mod avro;
mod cloud_event;
pub mod codes;
mod command;
mod embedded;
mod envelope;
mod error;
mod fact;
mod fact_record;
mod fingerprint;
mod lock;
mod schemas;
pub mod sources;
pub mod topics;
mod wire_format;

pub use cloud_event::{
    ATTRIBUTE_BYTES_MAX, Attribute, AttributeValue, Carried, CloudEvent, Data, EventTime, SPEC_VERSION,
};
pub use command::{COMMAND_TYPE, CommandReason, ExportCommand, decode_command};
pub use envelope::{CONTENT_TYPE, EventKey, Headers, Message};
pub use error::{ContractError, EncodeError, InvalidField, Malformed, UnknownSchemaId};
pub use fact::{ExportSnapshot, Fact, decode_fact};
pub use fingerprint::Fingerprint;
pub use schemas::{SchemaError, Schemas};
pub use sources::DEFAULT_SOURCE;
pub use topics::Topics;
pub use wire_format::PAYLOAD_BYTES_MAX;
