//! `waybill parked`: the rows of the outbox that Kafka did not take, and what is decided about them.

mod list;
mod show;

use serde_json::Value;

use super::decision::Decision;
use super::{CommandError, text};
use crate::client::{Client, Holder};
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  waybill parked list                                  what is refused, and what waits behind it
  waybill parked list --state discarded --topic shop.orders
  waybill parked show 4711
  waybill parked retry 4711 --reason 'max.message.bytes raised' --dry-run
  waybill parked retry --code relay-row-refused --reason 'max.message.bytes raised' --yes
  waybill parked discard 4711 --reason 'written by a test'

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
    },
    /// Send a refused row once more, or all that one cause keeps, because the cause is gone
    Retry {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        decision: Decision,
    },
    /// Never send a row, or those that one cause keeps; what waits behind goes on
    Discard {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        decision: Decision,
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

/// Calls the api as the operator of `WAYBILL_API_KEY`.
pub(crate) async fn run(command: ParkedCommand, output: &Output) -> Result<(), CommandError> {
    let client = Client::from_environment(Holder::Operator)?;
    match command {
        ParkedCommand::List(list) => list::run(&client, &list, output).await,
        ParkedCommand::Show { seq } => show::run(&client, seq, output).await,
        ParkedCommand::Retry { which, decision } => decide(&client, &which, "retry", &decision, output).await,
        ParkedCommand::Discard { which, decision } => {
            decide(&client, &which, "discard", &decision, output).await
        }
    }
}

async fn decide(
    client: &Client,
    which: &Which,
    verb: &str,
    decision: &Decision,
    output: &Output,
) -> Result<(), CommandError> {
    if let Some(seq) = which.seq {
        let path = format!("/v1/ops/parked/{seq}/{verb}");
        let said = |row: &Value| format!("{}  {}", text::of(&row["seq"]), text::of(&row["state"]));
        return decision.carry_out(client, &path, &["state"], output, said).await;
    }
    let about: Vec<(&str, &str)> = [("topic", &which.topic), ("code", &which.code)]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.as_deref()?)))
        .collect();
    let path = text::address(&format!("/v1/ops/parked/{verb}"), &about);
    decision.carry_out(client, &path, &["rows", "holds"], output, many).await
}

/// What a decision about many did.
fn many(answer: &Value) -> String {
    let [rows, holds] = ["rows", "holds"].map(|member| text::of(&answer[member]));
    let more = if answer["more"] == true { "; there are more: the same command once more" } else { "" };
    format!("{rows} rows decided, {holds} holds go on{more}")
}
