//! `waybill outbox accept-topic`: a topic of the same name with another id is sent to only once a person agrees.

use serde_json::Value;
use waybill_operator::Proposal;

use super::super::decision::Decision;
use super::super::{CommandError, text};
use super::direct::refused;
use super::reach::Place;
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
    #[command(flatten)]
    place: Place,
}

pub(super) async fn run(accept: &AcceptTopic, output: &Output) -> Result<(), CommandError> {
    let AcceptTopic { topic, topic_id, decision, place } = accept;
    let proposal = Proposal::topic(topic, topic_id).map_err(|refusal| refused(&refusal))?;
    let mut reach = place.reach().await?;
    let judge = async |reason: &str, is_dry_run| reach.decide(&proposal, reason, is_dry_run).await;
    let shown = |answer: &Value| format!("{}  {}", text::of(&answer["topic"]), text::of(&answer["topic_id"]));
    decision.carry_out_by(judge, &["topic_id"], output, shown).await
}
