//! The topics as `schemas/topics.toml` declares them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::embedded;

/// The topic of commands, without a prefix.
pub const COMMANDS: &str = "waybill.export.commands";
/// The topic of facts, without a prefix.
pub const EVENTS: &str = "waybill.export.events";

/// Kafka's bound on a topic's name, in bytes.
pub const TOPIC_NAME_BYTES_MAX: usize = 249;

/// The names of the topics in one deployment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topics {
    /// Commands: `{prefix}waybill.export.commands`.
    pub commands: String,
    /// Facts: `{prefix}waybill.export.events`.
    pub events: String,
}

impl Topics {
    /// The names under a deployment's prefix, which may be empty and brings its own separator.
    pub fn with_prefix(prefix: &str) -> Self {
        Self { commands: format!("{prefix}{COMMANDS}"), events: format!("{prefix}{EVENTS}") }
    }
}

/// What Kafka does with old records of a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cleanup {
    /// Drops them after the retention.
    Delete,
    /// Keeps the last one of each key.
    Compact,
}

impl Cleanup {
    /// The value of Kafka's `cleanup.policy`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Delete => "delete",
            Self::Compact => "compact",
        }
    }
}

/// How many copies there are and how many of them a write waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Durability {
    /// Copies of each partition.
    pub replication_factor: i32,
    /// Copies that `acks=all` waits for.
    pub min_insync_replicas: i32,
}

/// One declared topic.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topic {
    /// Its name without a prefix.
    pub name: String,
    /// What its records are.
    pub doc: String,
    /// How many partitions, fixed for good.
    pub partitions: i32,
    /// Copies of each partition, in a cluster of more than one broker.
    pub replication_factor: i32,
    /// Copies that `acks=all` waits for, in a cluster of more than one broker.
    pub min_insync_replicas: i32,
    /// What becomes of old records.
    pub cleanup: Cleanup,
    /// How long a record is kept, in milliseconds; -1 for ever.
    pub retention_ms: i64,
    /// The largest record batch, in bytes.
    pub message_bytes_max: i64,
    /// Further settings under Kafka's names.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
}

impl Topic {
    /// The topic's copies in a cluster of `brokers`. Only a single broker, which is a development stack, is let off;
    /// where a larger cluster is too small for the declaration, Kafka refuses it and is right.
    pub fn durability(&self, brokers: usize) -> Durability {
        if brokers == 1 {
            Durability { replication_factor: 1, min_insync_replicas: 1 }
        } else {
            Durability {
                replication_factor: self.replication_factor,
                min_insync_replicas: self.min_insync_replicas,
            }
        }
    }

    /// The topic's settings under Kafka's names, complete, for a cluster of `brokers`.
    pub fn kafka_settings(&self, brokers: usize) -> BTreeMap<String, String> {
        let mut settings = self.settings.clone();
        settings.insert("cleanup.policy".to_owned(), self.cleanup.as_str().to_owned());
        settings.insert("retention.ms".to_owned(), self.retention_ms.to_string());
        settings.insert("max.message.bytes".to_owned(), self.message_bytes_max.to_string());
        let in_sync = self.durability(brokers).min_insync_replicas;
        settings.insert("min.insync.replicas".to_owned(), in_sync.to_string());
        settings
    }
}

/// Why a declaration of topics is refused.
#[derive(Debug, thiserror::Error)]
pub enum TopicsError {
    /// Not the TOML that it should be; unknown keys included.
    #[error("the declared topics are not what they should be")]
    Toml(#[from] toml::de::Error),
    /// A declaration that contradicts itself or that Kafka would refuse.
    #[error("the declared topic {topic:?}: {problem}")]
    Contradiction {
        /// The topic.
        topic: String,
        /// What is wrong with it.
        problem: &'static str,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Declaration {
    topic: Vec<Topic>,
}

/// The topics that this version declares, in the order of the file.
pub fn declared() -> Result<Vec<Topic>, TopicsError> {
    parse(embedded::TOPICS)
}

/// The topics that a text like `schemas/topics.toml` declares.
pub fn parse(text: &str) -> Result<Vec<Topic>, TopicsError> {
    let topics = toml::from_str::<Declaration>(text)?.topic;
    let mut names = BTreeSet::new();
    for topic in &topics {
        let problem =
            if names.insert(topic.name.as_str()) { problem_of(topic) } else { Some("declared twice") };
        if let Some(problem) = problem {
            return Err(TopicsError::Contradiction { topic: topic.name.clone(), problem });
        }
    }
    Ok(topics)
}

/// Whether Kafka takes this name of a topic, prefix and all.
pub fn check_name(name: &str) -> Result<(), TopicsError> {
    if is_name(name) {
        return Ok(());
    }
    Err(TopicsError::Contradiction { topic: name.to_owned(), problem: NOT_A_NAME })
}

const NOT_A_NAME: &str = "not a name that Kafka takes: 1 to 249 of a-z A-Z 0-9 . _ -";

fn is_name(name: &str) -> bool {
    let legal = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    !name.is_empty() && name.len() <= TOPIC_NAME_BYTES_MAX && name.bytes().all(legal)
}

fn problem_of(topic: &Topic) -> Option<&'static str> {
    // Named fields that are also settings of Kafka: said twice, one of the two would be a lie.
    const OWNED: [&str; 4] = ["cleanup.policy", "retention.ms", "max.message.bytes", "min.insync.replicas"];
    if !is_name(&topic.name) {
        Some(NOT_A_NAME)
    } else if topic.doc.is_empty() {
        Some("doc is empty")
    } else if topic.partitions < 1 {
        Some("partitions must be at least 1")
    } else if topic.min_insync_replicas < 1 || topic.min_insync_replicas > topic.replication_factor {
        Some("min_insync_replicas must be between 1 and replication_factor")
    } else if topic.retention_ms < -1 {
        Some("retention_ms must be -1 or a number of milliseconds")
    } else if usize::try_from(topic.message_bytes_max).is_ok_and(|max| max < crate::PAYLOAD_BYTES_MAX)
        || topic.message_bytes_max < 0
    {
        Some("message_bytes_max is below the largest payload of the contract")
    } else if OWNED.iter().any(|key| topic.settings.contains_key(*key)) {
        Some("settings repeats a setting that has a field of its own")
    } else {
        None
    }
}
