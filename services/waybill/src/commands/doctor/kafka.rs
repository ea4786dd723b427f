use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use waybill_runtime::{Config, Context, Health, Role, Schema};

use super::finding::Findings;
use crate::commands::topic::{Broker, CONSUMERS, TopicState, declared};
use crate::exit::CommandError;

/// The fewest brokers with which a written record survives the loss of one.
const BROKERS_MIN: usize = 3;

pub(super) async fn check(config: &Config, findings: &mut Findings) {
    let subject = format!("kafka at {}", config.kafka.bootstrap);
    let broker = Broker::connect(config).and_then(|broker| Ok((broker.count()?, broker)));
    let (brokers, broker) = match broker {
        Ok(broker) => broker,
        Err(error) => {
            return findings.away(subject, said(&error), "check kafka.bootstrap and [kafka.settings]");
        }
    };
    if brokers < BROKERS_MIN {
        findings.warn(
            subject,
            format!("{brokers} broker(s)"),
            "enough for a laptop; with fewer than three, the loss of one loses records or stops writing",
        );
    } else {
        findings.ok(subject, format!("{brokers} brokers"));
    }
    let topics = match declared() {
        Ok(topics) => topics,
        Err(error) => return findings.fail("topics", said(&error), "mend schemas/topics.toml"),
    };
    for topic in topics {
        let name = format!("{}{}", config.kafka.topic_prefix, topic.name);
        let subject = format!("topic {name}");
        let state = match broker.state(&name).await {
            Ok(Some(state)) => state,
            Ok(None) => {
                findings.fail(subject, "is missing", "waybill topic apply");
                continue;
            }
            Err(error) => {
                findings.away(subject, said(&error), "check the login's rights");
                continue;
            }
        };
        let drift = state.drift(&topic, brokers);
        if drift.is_empty() {
            let copies = topic.durability(brokers);
            findings.ok(
                subject,
                format!(
                    "{} partitions, {} replicas of which {} in sync",
                    state.partitions, state.replication_factor, copies.min_insync_replicas
                ),
            );
        } else {
            findings.warn(
                subject,
                drift.join("; "),
                "change the topic with Kafka's own tools, or the declaration in schemas/topics.toml",
            );
        }
        for (group, schema, _) in CONSUMERS.iter().filter(|(_, _, consumed)| *consumed == topic.name) {
            bond(config, &format!("{}{group}", config.kafka.topic_prefix), *schema, &name, &state, findings)
                .await;
        }
    }
}

/// Whether a consumer group is bound to the topic that there is.
async fn bond(
    config: &Config,
    group: &str,
    schema: Schema,
    topic: &str,
    state: &TopicState,
    findings: &mut Findings,
) {
    let subject = format!("consumer group {group}");
    let role = match schema {
        Schema::Search => Role::Search,
        Schema::Stats => Role::Stats,
        Schema::Notify => Role::Notifier,
        Schema::Export | Schema::Outbox => Role::Worker,
    };
    let health = Health::new(role);
    let Ok(context) = Context::new(Arc::new(config.clone()), role, &health, CancellationToken::new()) else {
        return;
    };
    // That the database cannot be reached was said before.
    let Ok(connection) = context.dedicated(schema).await else { return };
    let row = connection.client.query_opt(include_str!("sql/bound_id.sql"), &[&group, &topic]).await;
    match row.map(|row| row.map(|row| row.get::<_, String>(0))) {
        Ok(Some(id)) if id == state.topic_id => findings.ok(subject, format!("bound to {topic} ({id})")),
        Ok(Some(id)) => findings.fail(
            subject,
            format!("bound to {topic} with id {id}, and the topic's is {}", state.topic_id),
            "the topic was deleted and made again; see docs/errors/topic-bound-elsewhere.md",
        ),
        Ok(None) => findings.fail(subject, format!("not bound to {topic}"), "waybill topic apply"),
        Err(error) => findings.fail(subject, error.to_string(), "waybill migrate apply"),
    }
}

fn said(error: &CommandError) -> String {
    waybill_runtime::chain(error)
}
