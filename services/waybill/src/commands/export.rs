//! `waybill export`: ask for one, follow it, fetch its file.

mod content;
mod create;
pub(super) mod duration;
mod list;
mod owner;
mod show;
mod timeline;
mod wait;
mod wish;

use std::path::PathBuf;

use serde_json::Value;

use super::CommandError;
use super::decision::Decision;
use crate::client::{Client, Holder};
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  waybill export create orders --name '2025 Q4' --notify-email me@example.org
  waybill export create orders --intent nightly-2026-01-31 --column order_id --column amount
  waybill export create orders --format parquet --filter 'ordered_at>=2026-01-01T00:00:00Z' --order newest
  waybill export create orders --wait                   ends when the export does
  waybill export wait exp_…
  waybill export show exp_…                             with its timeline
  waybill export content exp_… --output orders.csv      checked against the export's digest
  waybill export cancel exp_… --reason 'asked for the wrong year'
  waybill export retry exp_…                            a new export that asks for the same as a failed one
  waybill export delete exp_… --reason 'no longer needed' --dry-run
  waybill export list --label quarter=4 --state succeeded --limit 20
  waybill export list --state quarantined               with an operator's key: what waits for a decision, of all tenants
  waybill export release exp_… --reason 'data repaired' --dry-run
  waybill export fail exp_… --reason 'takes its workers down' --yes";

#[derive(Debug, clap::Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum ExportCommand {
    /// Ask for an export; the same intent again answers the same export
    Create(Box<create::Create>),
    /// Show an export and its timeline; an operator sees any tenant's
    Show {
        /// The export
        export_id: String,
    },
    /// Follow an export until it ends, also past an api that is away for a while; exit code 1 when it ends without a
    /// result
    Wait {
        /// The export
        export_id: String,
        /// How long to wait at the most
        #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
        timeout: u64,
    },
    /// Download an export's file; it appears only when it is whole and right
    Content {
        /// The export
        export_id: String,
        /// Where to write it [default: EXPORT_ID with the ending of its format]
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Call off an export that is pending or running; it wins at once, and its worker stops at its next heartbeat
    Cancel {
        /// The export
        export_id: String,
        #[command(flatten)]
        decision: Decision,
    },
    /// Ask for the same as a failed export once more, as a new export; the same intent again answers the same one
    Retry {
        /// The failed export
        export_id: String,
        /// The Idempotency-Key [default: a new one]
        #[arg(long, value_name = "KEY")]
        intent: Option<String>,
    },
    /// Delete an export that has its outcome, and its file; the record stays
    Delete {
        /// The export
        export_id: String,
        #[command(flatten)]
        decision: Decision,
    },
    /// List exports, newest first; with an operator's key those that wait for an operator, of all tenants
    List(list::List),
    /// Let a quarantined export try again
    Release {
        /// The export
        export_id: String,
        #[command(flatten)]
        decision: Decision,
    },
    /// End a quarantined export without a result; its owner reads the reason
    Fail {
        /// The export
        export_id: String,
        #[command(flatten)]
        decision: Decision,
    },
}

impl ExportCommand {
    const fn holder(&self) -> Holder {
        match self {
            Self::Create(_)
            | Self::Show { .. }
            | Self::Wait { .. }
            | Self::Content { .. }
            | Self::Cancel { .. }
            | Self::Retry { .. }
            | Self::Delete { .. } => Holder::Tenant,
            Self::List(_) => Holder::Any,
            Self::Release { .. } | Self::Fail { .. } => Holder::Operator,
        }
    }
}

/// Calls the api with the key of `WAYBILL_API_KEY`: a tenant's, or an operator's for what decides.
pub(crate) async fn run(command: ExportCommand, output: &Output) -> Result<(), CommandError> {
    let client = Client::from_environment(command.holder())?;
    match command {
        ExportCommand::Create(create) => create::run(&client, *create, output).await,
        ExportCommand::Show { export_id } => show::run(&client, &export_id, output).await,
        ExportCommand::Wait { export_id, timeout } => wait::run(&client, &export_id, timeout, output).await,
        ExportCommand::Content { export_id, output: file } => {
            content::run(&client, &export_id, file, output).await
        }
        ExportCommand::Cancel { export_id, decision } => {
            owner::cancel(&client, &export_id, &decision, output).await
        }
        ExportCommand::Retry { export_id, intent } => owner::retry(&client, &export_id, intent, output).await,
        ExportCommand::Delete { export_id, decision } => {
            owner::delete(&client, &export_id, &decision, output).await
        }
        ExportCommand::List(list) => list::run(&client, &list, output).await,
        ExportCommand::Release { export_id, decision } => {
            decide(&client, &export_id, "release", &decision, output).await
        }
        ExportCommand::Fail { export_id, decision } => {
            decide(&client, &export_id, "fail", &decision, output).await
        }
    }
}

async fn decide(
    client: &Client,
    export_id: &str,
    verb: &str,
    decision: &Decision,
    output: &Output,
) -> Result<(), CommandError> {
    let path = format!("/v1/ops/exports/{export_id}/{verb}");
    let text = |export: &Value| {
        format!("{}  {}", super::text::of(&export["export_id"]), super::text::of(&export["state"]))
    };
    decision.carry_out(client, &path, &["state"], output, text).await
}
