//! `waybill parked list`.

use serde_json::{Value, json};
use waybill_operator::Wanted;
use waybill_outbox::parked::Filter;

use super::super::outbox::reach::Place;
use super::super::{CommandError, pages, text};
use crate::output::{Output, table};

/// The rows of a page, where all are listed.
const PAGE_ROWS: i64 = 1_000;

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
    #[command(flatten)]
    place: Place,
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

pub(super) async fn run(list: &List, output: &Output) -> Result<(), CommandError> {
    let List { topic, code, state, limit, place } = list;
    let wanted = Wanted {
        filter: Filter { topic: topic.as_deref(), code: code.as_deref() },
        state: state.map(State::as_str),
        after: None,
        limit: limit.map_or(PAGE_ROWS, i64::from),
    };
    let mut reach = place.reach().await?;
    let answer = if limit.is_some() {
        reach.list(&wanted).await?
    } else {
        let page = async |after: Option<&str>| reach.list(&Wanted { after, ..wanted }).await;
        json!({ "parked": pages::all_of(page, "parked").await? })
    };
    output.answer(&answer, |answer| drawn(&answer["parked"]))
}

fn drawn(rows: &Value) -> String {
    let members =
        ["seq", "state", "scope", "topic", "key", "event_id", "refusals", "parked_at", "code", "detail"];
    let rows: Vec<_> = rows.as_array().into_iter().flatten().map(|row| text::row(row, &members)).collect();
    table(&members, &rows)
}
