//! A Kafka partition consumer whose positions live in Postgres beside their effects.
//!
//! One transaction applies a batch of one partition's records, records their event keys where the effect is additive,
//! parks what cannot be applied, and moves the stored position by compare-and-set under a fence. Whoever opens this
//! crate to consume a topic writes one [`Effect`] and calls [`run`].
//!
//! Deliberately absent: a fall back to Kafka's committed offset, to the earliest or to the latest record; an effect
//! outside of the transaction that moves the position; and everything about exports.

pub mod codes;

mod apply;
mod backoff;
mod buffer;
mod complaint;
mod crew;
mod effect;
mod error;
mod failure;
mod group;
mod inbox;
mod inspector;
mod load;
mod metrics;
mod native;
mod options;
mod parked;
mod partition;
mod poll;
mod position;
mod record;
mod run;
mod settings;
mod start;
mod status;
mod topic;
mod transaction;

pub use effect::{Batch, DecodeError, Dedup, Delivery, Effect, EffectError, EventKey, Poison};
pub use error::ConsumerError;
pub use metrics::METRICS;
pub use options::ConsumerOptions;
pub use record::Record;
pub use run::run;
pub use status::StatusSink;
pub use topic::{BindError, bind_topic};
pub use waybill_topic_identity::{TopicIdError, topic_id};
