use std::collections::BTreeMap;

use rdkafka::ClientConfig;
use rdkafka::admin::{
    AdminClient, AdminOptions, NewPartitions, NewTopic, ResourceSpecifier, TopicReplication,
};
use rdkafka::client::DefaultClientContext;
use rdkafka::error::KafkaError;
use waybill_contract::topics::Topic;
use waybill_runtime::Config;

use super::REQUEST_TIMEOUT;
use crate::codes;
use crate::exit::{CommandError, Exit};

/// How often a topic that was just made is looked for, once a pause.
const LOOKS_MAX: u32 = 100;
const PAUSE: std::time::Duration = std::time::Duration::from_millis(100);
/// How long the first answer of any broker may take.
const FIRST_ANSWER_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);

/// The cluster, as an admin sees it.
pub(crate) struct Broker {
    admin: AdminClient<DefaultClientContext>,
    settings: Vec<(String, String)>,
}

/// A topic as Kafka has it.
#[derive(Debug, Clone)]
pub(crate) struct TopicState {
    pub(crate) partitions: i32,
    /// The smallest number of copies that a partition has.
    pub(crate) replication_factor: i32,
    pub(crate) topic_id: String,
    settings: BTreeMap<String, String>,
}

impl Broker {
    /// A client; it connects when something is asked of it.
    pub(crate) fn connect(config: &Config) -> Result<Self, CommandError> {
        let mut settings = config.kafka.client_settings().map_err(crate::commands::config::refused)?;
        if config.kafka.settings.get("client.id").is_none() {
            settings.push(("client.id".to_owned(), "waybill-admin".to_owned()));
        }
        let client: ClientConfig = settings.iter().cloned().collect();
        let admin = client.create().map_err(|error| unreachable("make a client", error))?;
        Ok(Self { admin, settings })
    }

    /// How many brokers there are.
    pub(crate) fn count(&self) -> Result<usize, CommandError> {
        let metadata =
            tokio::task::block_in_place(|| self.admin.inner().fetch_metadata(None, FIRST_ANSWER_TIMEOUT));
        Ok(metadata.map_err(|error| unreachable("list the brokers", error))?.brokers().len())
    }

    /// A topic, if there is one of that name.
    pub(crate) async fn state(&self, name: &str) -> Result<Option<TopicState>, CommandError> {
        // First by its id, because asking for a topic's metadata could make the topic.
        let id = waybill_consumer::topic_id(&self.settings, name, REQUEST_TIMEOUT).await;
        let id = id.map_err(|error| unreachable(&format!("describe {name}"), error))?;
        let Some(topic_id) = id else { return Ok(None) };
        let metadata =
            tokio::task::block_in_place(|| self.admin.inner().fetch_metadata(Some(name), REQUEST_TIMEOUT))
                .map_err(|error| unreachable(&format!("describe {name}"), error))?;
        let Some(topic) = metadata.topics().iter().find(|topic| topic.name() == name) else {
            return Ok(None);
        };
        let replicas = topic.partitions().iter().map(|partition| partition.replicas().len()).min();
        Ok(Some(TopicState {
            partitions: i32::try_from(topic.partitions().len()).unwrap_or(i32::MAX),
            replication_factor: replicas.and_then(|replicas| i32::try_from(replicas).ok()).unwrap_or(0),
            topic_id,
            settings: self.settings_of(name).await?,
        }))
    }

    async fn settings_of(&self, name: &str) -> Result<BTreeMap<String, String>, CommandError> {
        let what = format!("read the settings of {name}");
        let described = self.admin.describe_configs(&[ResourceSpecifier::Topic(name)], &options()).await;
        let described = described.map_err(|error| unreachable(&what, error))?;
        let mut settings = BTreeMap::new();
        for resource in described {
            let resource = resource.map_err(|code| unreachable(&what, KafkaError::AdminOp(code)))?;
            settings
                .extend(resource.entries.into_iter().filter_map(|entry| Some((entry.name, entry.value?))));
        }
        Ok(settings)
    }

    /// Makes a topic as it is declared.
    pub(super) async fn make(&self, topic: &Topic, name: &str, brokers: usize) -> Result<(), CommandError> {
        let replication = TopicReplication::Fixed(topic.durability(brokers).replication_factor);
        let settings = topic.kafka_settings(brokers);
        let wanted = NewTopic::new(name, topic.partitions, replication);
        let wanted = settings.iter().fold(wanted, |wanted, (key, value)| wanted.set(key, value));
        let made = self.admin.create_topics([&wanted], &options()).await;
        answer(name, "make", made)
    }

    /// Adds partitions until there are as many as declared. A new partition is read from its first record.
    pub(super) async fn grow(&self, name: &str, partitions: i32) -> Result<(), CommandError> {
        let count = usize::try_from(partitions).unwrap_or(0);
        let grown = self.admin.create_partitions([&NewPartitions::new(name, count)], &options()).await;
        answer(name, "grow", grown)
    }

    /// The topic once every broker that is asked knows it as it was made.
    pub(super) async fn wait_for(
        &self,
        name: &str,
        partitions: i32,
    ) -> Result<Option<TopicState>, CommandError> {
        for _ in 0..LOOKS_MAX {
            if let Some(state) = self.state(name).await?.filter(|state| state.partitions >= partitions) {
                return Ok(Some(state));
            }
            // Kafka tells nobody when a topic has spread.
            tokio::time::sleep(PAUSE).await;
        }
        self.state(name).await
    }
}

impl TopicState {
    /// In what the topic is another one than declared.
    pub(crate) fn drift(&self, topic: &Topic, brokers: usize) -> Vec<String> {
        let durability = topic.durability(brokers);
        let mut drift = Vec::new();
        if self.partitions != topic.partitions {
            drift.push(format!("partitions {} instead of {}", self.partitions, topic.partitions));
        }
        if self.replication_factor < durability.replication_factor {
            drift.push(format!(
                "replicas {} instead of {}",
                self.replication_factor, durability.replication_factor
            ));
        }
        for (key, declared) in topic.kafka_settings(brokers) {
            match self.settings.get(&key) {
                Some(found) if *found == declared => {}
                Some(found) => drift.push(format!("{key} {found} instead of {declared}")),
                None => drift.push(format!("{key} unset instead of {declared}")),
            }
        }
        drift
    }
}

fn options() -> AdminOptions {
    AdminOptions::new().request_timeout(Some(REQUEST_TIMEOUT)).operation_timeout(Some(REQUEST_TIMEOUT))
}

fn answer(
    name: &str,
    verb: &str,
    results: Result<Vec<rdkafka::admin::TopicResult>, KafkaError>,
) -> Result<(), CommandError> {
    for result in results.map_err(|error| unreachable(&format!("{verb} {name}"), error))? {
        match result {
            // Somebody applied at the same moment.
            Ok(_) | Err((_, rdkafka::types::RDKafkaErrorCode::TopicAlreadyExists)) => {}
            Err((_, code)) => {
                let message = format!("Kafka refused to {verb} {name}");
                return Err(CommandError::new(Exit::Refused, codes::TOPIC_REFUSED, message)
                    .with_source(KafkaError::AdminOp(code))
                    .with_hint("check the login's rights, and that there are as many brokers as replicas"));
            }
        }
    }
    Ok(())
}

fn unreachable(what: &str, error: impl std::error::Error + Send + Sync + 'static) -> CommandError {
    CommandError::new(Exit::Unavailable, codes::KAFKA_UNREACHABLE, format!("cannot {what}"))
        .with_source(error)
        .with_hint("check `kafka.bootstrap` and `[kafka.settings]`")
}
