//! `waybill parked`: the rows of an outbox that Kafka did not take, and what is decided about them.

mod list;
mod show;

use serde_json::Value;
use waybill_operator::Proposal;
use waybill_outbox::parked::Verb;

use super::decision::Decision;
use super::outbox::direct::refused;
use super::outbox::reach::Place;
use super::{CommandError, text};
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  waybill parked list                                  what is refused, and what waits behind it
  waybill parked list --state discarded --topic shop.orders
  waybill parked show 4711
  waybill parked retry 4711 --reason 'max.message.bytes raised' --dry-run
  waybill parked retry --code relay-row-refused --reason 'max.message.bytes raised' --yes
  waybill parked discard 4711 --reason 'written by a test'
  waybill parked list --schema shop_outbox --database-url postgres://ops@db/shop

The active relay sends what is retried, in the order of its key. What is discarded is kept, with reason and actor, and
never sent.";

#[derive(Debug, clap::Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum ParkedCommand {
    /// List parked rows; without --state those that nobody has settled
    List(list::List),
    /// Show a row whole, with its hold and how many wait behind it
    Show {
        /// The row's seq
        seq: i64,
        #[command(flatten)]
        place: Place,
    },
    /// Send a refused row once more, or all that one cause keeps, because the cause is gone
    Retry {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        decision: Decision,
        #[command(flatten)]
        place: Place,
    },
    /// Never send a row, or those that one cause keeps; what waits behind goes on
    Discard {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        decision: Decision,
        #[command(flatten)]
        place: Place,
    },
}

/// What a decision is about.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = true)]
pub(crate) struct Which {
    /// The row's seq
    #[arg(conflicts_with_all = ["topic", "code"])]
    seq: Option<i64>,
    /// All of this topic, at most a thousand rows a command
    #[arg(long, value_name = "TOPIC")]
    topic: Option<String>,
    /// All with this code, at most a thousand rows a command
    #[arg(long, value_name = "CODE")]
    code: Option<String>,
}

/// Asks the api about the product's own outbox, and another one directly.
pub(crate) async fn run(command: ParkedCommand, output: &Output) -> Result<(), CommandError> {
    match command {
        ParkedCommand::List(list) => list::run(&list, output).await,
        ParkedCommand::Show { seq, place } => show::run(&place, seq, output).await,
        ParkedCommand::Retry { which, decision, place } => {
            decide(&which, Verb::Retry, &decision, &place, output).await
        }
        ParkedCommand::Discard { which, decision, place } => {
            decide(&which, Verb::Discard, &decision, &place, output).await
        }
    }
}

async fn decide(
    which: &Which,
    verb: Verb,
    decision: &Decision,
    place: &Place,
    output: &Output,
) -> Result<(), CommandError> {
    let proposal = match which.seq {
        Some(seq) => Proposal::Row { verb, seq },
        None => Proposal::matching(verb, which.topic.as_deref(), which.code.as_deref())
            .map_err(|refusal| refused(&refusal))?,
    };
    let mut reach = place.reach().await?;
    let judge = async |reason: &str, is_dry_run| reach.decide(&proposal, reason, is_dry_run).await;
    if which.seq.is_some() {
        return decision.carry_out_by(judge, &["state"], output, one).await;
    }
    decision.carry_out_by(judge, &["rows", "holds"], output, many).await
}

/// What a decision about a row did.
fn one(row: &Value) -> String {
    format!("{}  {}", text::of(&row["seq"]), text::of(&row["state"]))
}

/// What a decision about many did.
fn many(answer: &Value) -> String {
    let [rows, holds] = ["rows", "holds"].map(|member| text::of(&answer[member]));
    let more = if answer["more"] == true { "; there are more: the same command once more" } else { "" };
    format!("{rows} rows decided, {holds} holds go on{more}")
}
