//! `waybill parked list`.

use serde_json::{Value, json};

use super::super::{CommandError, pages, text};
use crate::client::Client;
use crate::output::{Output, table};

/// What to list.
#[derive(Debug, clap::Args)]
pub(crate) struct List {
    /// Of this topic alone
    #[arg(long, value_name = "TOPIC")]
    topic: Option<String>,
    /// With this code alone
    #[arg(long, value_name = "CODE")]
    code: Option<String>,
    /// In this state alone
    #[arg(long, value_enum)]
    state: Option<State>,
    /// The most to list; without it, all
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: Option<u16>,
}

/// Where a row stands.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum State {
    /// Kafka will not have it
    Refused,
    /// Sent when its turn comes
    Waiting,
    /// Sent after all
    Sent,
    /// Never sent, as somebody decided
    Discarded,
}

impl State {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Waiting => "waiting",
            Self::Sent => "sent",
            Self::Discarded => "discarded",
        }
    }
}

pub(super) async fn run(client: &Client, list: &List, output: &Output) -> Result<(), CommandError> {
    let limit = list.limit.map(|limit| limit.to_string());
    let parameters: Vec<(&str, &str)> = [
        ("topic", list.topic.as_deref()),
        ("code", list.code.as_deref()),
        ("state", list.state.map(State::as_str)),
        ("limit", limit.as_deref()),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
    .collect();
    let path = text::address("/v1/ops/parked", &parameters);
    let answer = if list.limit.is_some() {
        client.get(&path).await?
    } else {
        json!({ "parked": pages::all(client, &path, "parked").await? })
    };
    output.answer(&answer, |answer| drawn(&answer["parked"]))
}

fn drawn(rows: &Value) -> String {
    let members =
        ["seq", "state", "scope", "topic", "key", "event_id", "refusals", "parked_at", "code", "detail"];
    let rows: Vec<_> = rows.as_array().into_iter().flatten().map(|row| text::row(row, &members)).collect();
    table(&members, &rows)
}
