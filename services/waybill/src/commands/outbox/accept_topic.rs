//! `waybill outbox accept-topic`: a topic of the same name with another id is sent to only once a person agrees.

use super::super::decision::Decision;
use super::super::{CommandError, text};
use crate::client::Client;
use crate::output::Output;

/// Which topic, and as what.
#[derive(Debug, clap::Args)]
pub(crate) struct AcceptTopic {
    /// The topic's whole name
    topic: String,
    /// The id that the topic has now; the hold's detail and Kafka's own tools say it
    #[arg(long, value_name = "ID")]
    topic_id: String,
    #[command(flatten)]
    decision: Decision,
}

pub(super) async fn run(client: &Client, accept: &AcceptTopic, output: &Output) -> Result<(), CommandError> {
    let AcceptTopic { topic, topic_id, decision } = accept;
    let path = text::address("/v1/ops/outbox/accept-topic", &[("topic", topic), ("topic_id", topic_id)]);
    let shown = |answer: &serde_json::Value| {
        format!("{}  {}", text::of(&answer["topic"]), text::of(&answer["topic_id"]))
    };
    decision.carry_out(client, &path, &["topic_id"], output, shown).await
}
