use serde::Serialize;
use waybill_consumer::{BindError, bind_topic};
use waybill_contract::topics::{COMMANDS, EVENTS};
use waybill_runtime::{Config, Schema, connect_as_admin};
use waybill_store::migrations::OWNER;

use super::TopicReport;
use crate::codes;
use crate::commands::database_refused;
use crate::exit::{CommandError, Exit};

/// Who consumes what: the consumer group, the schema with its positions, the topic.
pub(crate) const CONSUMERS: &[(&str, Schema, &str)] = &[
    ("waybill.worker", Schema::Export, COMMANDS),
    ("waybill.search.g1", Schema::Search, EVENTS),
    ("waybill.stats.g1", Schema::Stats, EVENTS),
    ("waybill.notifier", Schema::Notify, EVENTS),
];

/// A group's bond to a topic.
#[derive(Debug, Serialize)]
pub(super) struct Binding {
    pub(super) consumer_group: String,
    pub(super) schema: &'static str,
    pub(super) topic: String,
    pub(super) topic_id: String,
    /// Whether this command made it.
    pub(super) new: bool,
}

/// Binds every consumer group to the id of its topic.
pub(super) async fn bind_all(config: &Config, topics: &[TopicReport]) -> Result<Vec<Binding>, CommandError> {
    let prefix = &config.kafka.topic_prefix;
    let mut bindings = Vec::with_capacity(CONSUMERS.len());
    for &(group, schema, topic) in CONSUMERS {
        let (group, topic) = (format!("{prefix}{group}"), format!("{prefix}{topic}"));
        let id =
            topics.iter().find(|report| report.topic == topic).and_then(|report| report.topic_id.clone());
        let topic_id = id.ok_or_else(|| {
            CommandError::new(
                Exit::Failed,
                codes::TOPIC_REFUSED,
                format!("{topic} was made and cannot be found"),
            )
        })?;
        let new = bind(config, schema, &group, &topic, &topic_id).await?;
        bindings.push(Binding { consumer_group: group, schema: schema.as_str(), topic, topic_id, new });
    }
    Ok(bindings)
}

async fn bind(
    config: &Config,
    schema: Schema,
    group: &str,
    topic: &str,
    topic_id: &str,
) -> Result<bool, CommandError> {
    let admin = connect_as_admin(config, schema).await.map_err(database_refused)?;
    // The consumer's statements name no schema, and its tables are the owner's.
    let setting = format!("SET search_path = {schema}; SET ROLE {OWNER}");
    let bound = match admin.client.batch_execute(&setting).await {
        Ok(()) => bind_topic(&admin.client, group, topic, topic_id).await,
        Err(error) => Err(BindError::Postgres(error)),
    };
    bound.map_err(|error| match &error {
        BindError::BoundToAnother { .. } => {
            CommandError::new(Exit::Refused, codes::TOPIC_BOUND_ELSEWHERE, error.to_string()).with_hint(
                "the topic was deleted and made again: its positions mean nothing in the new one. Decide what to replay",
            )
        }
        BindError::Postgres(_) => {
            CommandError::new(Exit::of(&error), codes::TOPIC_REFUSED, format!("{group} was not bound to {topic}"))
                .with_source(error)
                .with_hint("waybill migrate apply comes first")
        }
    })
}
