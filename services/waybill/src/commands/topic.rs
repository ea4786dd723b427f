//! `waybill topic`: Kafka's topics as `schemas/topics.toml` declares them, and the consumers' bonds to them.

mod binding;
mod broker;

use std::time::Duration;

use serde::Serialize;
use waybill_contract::topics::{self, Topic};
use waybill_runtime::Config;

use super::CommandError;
use crate::codes;
use crate::exit::Exit;
use crate::output::{Output, table};
use binding::Binding;
pub(crate) use binding::CONSUMERS;
pub(crate) use broker::{Broker, TopicState};

/// How long one request to Kafka may take.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

const EXAMPLES: &str = "\
Examples:
  waybill topic list
  waybill topic apply            make what is missing, add partitions, bind the consumer groups
  WAYBILL_KAFKA_BOOTSTRAP=kafka:9092 waybill topic apply --json

Applying again changes nothing. What has drifted in another way is reported and left alone (exit code 4).
A group that is bound to a topic starts at its first record; without the bond its partitions halt.";

#[derive(Debug, clap::Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum TopicCommand {
    /// Show the declared topics beside what Kafka has
    List,
    /// Make the topics and bind each consumer group to its topic's id
    Apply,
}

/// What a command says.
#[derive(Debug, Serialize)]
struct TopicsReport {
    brokers: usize,
    topics: Vec<TopicReport>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    bindings: Vec<Binding>,
}

/// One topic.
#[derive(Debug, Serialize)]
struct TopicReport {
    topic: String,
    /// `missing`, `made`, `grown`, `as declared` or `drifted`.
    state: &'static str,
    partitions: i32,
    replication_factor: i32,
    topic_id: Option<String>,
    drift: Vec<String>,
}

/// Lists or applies.
pub(crate) async fn run(command: TopicCommand, config: &Config, output: Output) -> Result<(), CommandError> {
    let broker = Broker::connect(config)?;
    let brokers = broker.count()?;
    let declared = declared()?;
    let apply = matches!(command, TopicCommand::Apply);
    let mut report = TopicsReport { brokers, topics: Vec::new(), bindings: Vec::new() };
    for topic in &declared {
        let name = format!("{}{}", config.kafka.topic_prefix, topic.name);
        report.topics.push(one(&broker, topic, &name, brokers, apply).await?);
    }
    if apply {
        report.bindings = binding::bind_all(config, &report.topics).await?;
    }
    output.answer(&report, TopicsReport::text)?;
    let drifted: Vec<_> = report
        .topics
        .iter()
        .filter(|topic| !topic.drift.is_empty())
        .map(|topic| topic.topic.as_str())
        .collect();
    if apply && !drifted.is_empty() {
        let message = format!("{} drifted from the declaration and was left alone", drifted.join(", "));
        return Err(CommandError::new(Exit::Refused, codes::TOPIC_DRIFTED, message)
            .with_hint("change the topic with Kafka's own tools, or the declaration"));
    }
    Ok(())
}

/// The topics that this version declares.
pub(crate) fn declared() -> Result<Vec<Topic>, CommandError> {
    topics::declared().map_err(|error| {
        CommandError::new(Exit::Failed, codes::TOPIC_REFUSED, "the declared topics cannot be read")
            .with_source(error)
    })
}

async fn one(
    broker: &Broker,
    topic: &Topic,
    name: &str,
    brokers: usize,
    apply: bool,
) -> Result<TopicReport, CommandError> {
    let mut state = "as declared";
    let mut there = broker.state(name).await?;
    if apply {
        match &there {
            None => {
                broker.make(topic, name, brokers).await?;
                state = "made";
            }
            Some(found) if found.partitions < topic.partitions => {
                broker.grow(name, topic.partitions).await?;
                state = "grown";
            }
            Some(_) => {}
        }
        if state != "as declared" {
            there = broker.wait_for(name, topic.partitions).await?;
        }
    }
    let Some(found) = there else {
        let durability = topic.durability(brokers);
        return Ok(TopicReport {
            topic: name.to_owned(),
            state: "missing",
            partitions: topic.partitions,
            replication_factor: durability.replication_factor,
            topic_id: None,
            drift: Vec::new(),
        });
    };
    let drift = found.drift(topic, brokers);
    Ok(TopicReport {
        topic: name.to_owned(),
        state: if drift.is_empty() { state } else { "drifted" },
        partitions: found.partitions,
        replication_factor: found.replication_factor,
        topic_id: Some(found.topic_id),
        drift,
    })
}

impl TopicsReport {
    fn text(&self) -> String {
        let rows: Vec<Vec<String>> = self
            .topics
            .iter()
            .map(|topic| {
                vec![
                    topic.topic.clone(),
                    topic.state.to_owned(),
                    topic.partitions.to_string(),
                    topic.replication_factor.to_string(),
                    topic.topic_id.clone().unwrap_or_else(|| "–".to_owned()),
                    topic.drift.join("; "),
                ]
            })
            .collect();
        let mut text = table(&["topic", "state", "partitions", "replicas", "id", "drift"], &rows);
        if !self.bindings.is_empty() {
            let rows: Vec<Vec<String>> = self
                .bindings
                .iter()
                .map(|bond| {
                    let state = if bond.new { "bound" } else { "was bound" };
                    vec![bond.consumer_group.clone(), state.to_owned(), bond.topic.clone()]
                })
                .collect();
            text.push('\n');
            text.push_str(&table(&["consumer group", "state", "topic"], &rows));
        }
        text
    }
}
