//! `waybill export list`.

use serde_json::{Value, json};

use super::super::{CommandError, pages, text};
use crate::client::Client;
use crate::output::{Output, table};

/// The states that can be listed: those in which an export waits for an operator.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum Waiting {
    /// Took too many workers down
    Quarantined,
}

impl Waiting {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Quarantined => "quarantined",
        }
    }
}

pub(super) async fn run(
    client: &Client,
    state: Waiting,
    limit: Option<u16>,
    output: &Output,
) -> Result<(), CommandError> {
    let path = format!("/v1/ops/exports?state={}", state.as_str());
    let answer = match limit {
        Some(limit) => client.get(&format!("{path}&limit={limit}")).await?,
        None => json!({ "exports": pages::all(client, &path, "exports").await? }),
    };
    output.answer(&answer, |answer| drawn(&answer["exports"]))
}

fn drawn(exports: &Value) -> String {
    let members = ["export_id", "tenant_id", "dataset", "name", "lost_leases", "accepted_at"];
    let rows: Vec<Vec<String>> = exports
        .as_array()
        .into_iter()
        .flatten()
        .map(|export| {
            let mut row = text::row(export, &members);
            row.extend(text::row(&export["last_attempt"], &["worker", "ended_at"]));
            row
        })
        .collect();
    table(&[&members[..], &["last_worker", "ended_at"][..]].concat(), &rows)
}
