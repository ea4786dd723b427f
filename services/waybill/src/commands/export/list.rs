//! `waybill export list`: a tenant's exports, or what waits for an operator.

use serde_json::{Value, json};
use waybill_api::codes::{SCOPE_MISSING, TENANT_REQUIRED};

use super::super::{CommandError, pages, text};
use crate::client::Client;
use crate::output::{Output, table};

/// The one state in which an export waits for an operator.
const QUARANTINED: &str = "quarantined";

/// What is listed.
#[derive(Debug, clap::Args)]
pub(crate) struct List {
    /// The state they are in: pending, running, quarantined, succeeded, failed, cancelled, expired or deleted
    #[arg(long)]
    state: Option<String>,
    /// Their data set
    #[arg(long)]
    dataset: Option<String>,
    /// Their whole name
    #[arg(long)]
    name: Option<String>,
    /// A label that they have
    #[arg(long, value_name = "KEY=VALUE")]
    label: Option<String>,
    /// Accepted then or later (RFC 3339)
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Accepted earlier (RFC 3339)
    #[arg(long, value_name = "TIME")]
    before: Option<String>,
    /// Other tries of this failed export
    #[arg(long, value_name = "EXPORT_ID")]
    retry_of: Option<String>,
    /// The most to list; without it, all
    #[arg(long, value_name = "EXPORTS", value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: Option<u16>,
}

impl List {
    /// Only a state is said, and it is the one that operators see.
    fn is_for_operators(&self) -> bool {
        let others = [&self.dataset, &self.name, &self.label, &self.from, &self.before, &self.retry_of];
        self.state.as_deref() == Some(QUARANTINED) && others.iter().all(|other| other.is_none())
    }

    fn path(&self) -> String {
        let parameters: Vec<(&str, &str)> = [
            ("state", &self.state),
            ("dataset", &self.dataset),
            ("name", &self.name),
            ("label", &self.label),
            ("accepted_from", &self.from),
            ("accepted_before", &self.before),
            ("retry_of", &self.retry_of),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.as_deref()?)))
        .collect();
        text::address("/v1/exports", &parameters)
    }
}

pub(super) async fn run(client: &Client, list: &List, output: &Output) -> Result<(), CommandError> {
    let refused = match entries(client, &list.path(), list.limit).await {
        Ok(answer) => return output.answer(&answer, |answer| own(&answer["exports"])),
        Err(error) if [SCOPE_MISSING, TENANT_REQUIRED].contains(&error.code.as_str()) => error,
        Err(error) => return Err(error),
    };
    if !list.is_for_operators() {
        return Err(refused.with_hint("an operator's key lists --state quarantined, and nothing else"));
    }
    let path = format!("/v1/ops/exports?state={QUARANTINED}");
    let answer = entries(client, &path, list.limit).await;
    // No operator's key either: what the tenant's lacks is what counts.
    let answer = answer.map_err(|error| if error.code == SCOPE_MISSING { refused } else { error })?;
    output.answer(&answer, |answer| waiting(&answer["exports"]))
}

/// A page of so many, or every page.
async fn entries(client: &Client, path: &str, limit: Option<u16>) -> Result<Value, CommandError> {
    let separator = if path.contains('?') { '&' } else { '?' };
    match limit {
        Some(limit) => client.get(&format!("{path}{separator}limit={limit}")).await,
        None => Ok(json!({ "exports": pages::all(client, path, "exports").await? })),
    }
}

fn own(exports: &Value) -> String {
    let members = ["export_id", "state", "dataset", "name", "accepted_at"];
    let rows: Vec<Vec<String>> = exports
        .as_array()
        .into_iter()
        .flatten()
        .map(|export| {
            let mut row = text::row(export, &members);
            row.push(text::of(&export["result"]["rows"]));
            row
        })
        .collect();
    table(&[&members[..], &["rows"][..]].concat(), &rows)
}

fn waiting(exports: &Value) -> String {
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
