//! Why a consumer ended though nobody asked it to.

use rdkafka::error::KafkaError;

use crate::codes;

/// What ends [`run`](crate::run). A lost connection is none of these: it is retried.
#[derive(Debug, thiserror::Error)]
pub enum ConsumerError {
    /// librdkafka refused its settings.
    #[error("the Kafka client of group {group} could not be made")]
    Client {
        /// The consumer group.
        group: String,
        /// What librdkafka said.
        #[source]
        source: KafkaError,
    },
    /// Two options contradict each other.
    #[error("consumer option {option}: {detail}")]
    Options {
        /// The option.
        option: &'static str,
        /// The relation that does not hold.
        detail: String,
    },
    /// The thread that polls Kafka could not be started.
    #[error("the poll thread of group {group} could not be started")]
    Thread {
        /// The consumer group.
        group: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The client is unusable, for instance because another one has its static identity.
    #[error("the Kafka client of group {group} failed for good")]
    Fatal {
        /// The consumer group.
        group: String,
        /// What librdkafka said.
        #[source]
        source: KafkaError,
    },
    /// The thread that polls Kafka ended without saying why.
    #[error("the poll thread of group {group} ended unexpectedly")]
    PollThreadLost {
        /// The consumer group.
        group: String,
    },
}

impl ConsumerError {
    /// The code of the page about the settings that no client can be made of; none for all other errors.
    #[must_use]
    pub const fn settings_code(&self) -> Option<&'static str> {
        match self {
            Self::Client { .. } | Self::Options { .. } => Some(codes::CONSUMER_SETTINGS),
            Self::Thread { .. } | Self::Fatal { .. } | Self::PollThreadLost { .. } => None,
        }
    }
}
