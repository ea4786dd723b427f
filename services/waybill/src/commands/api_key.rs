//! `waybill api-key`: the passwords of service accounts.

mod first;

use serde_json::{Value, json};
use waybill_runtime::Config;

use super::CommandError;
use super::decision::Decision;
use crate::client::{Client, Holder};
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  waybill api-key create --first                            the first operator, through Postgres itself
  waybill api-key create sva_… --scope exports:read --scope exports:write
  waybill api-key create sva_… --scope ops --valid-days 90
  waybill api-key revoke key_… --reason 'found in a log' --dry-run
  waybill api-key revoke key_… --reason 'found in a log' --yes

The key is shown once. Waybill keeps only its digest.";

#[derive(Debug, clap::Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum ApiKeyCommand {
    /// Make a key and show it, once
    Create {
        /// Whose key it is
        #[arg(required_unless_present = "first", conflicts_with = "first")]
        service_account_id: Option<String>,
        /// What it may be used for: exports:read and exports:write for a tenant's, ops for an operator's
        #[arg(
            long = "scope",
            value_name = "SCOPE",
            required_unless_present = "first",
            conflicts_with = "first"
        )]
        scopes: Vec<String>,
        /// After how many days it ends by itself
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..=3650))]
        valid_days: Option<u32>,
        /// Make the first operator and its key, through [admin] postgres_url
        #[arg(long)]
        first: bool,
        /// With --first: also when an operator's key exists
        #[arg(long, requires = "first")]
        yes: bool,
    },
    /// Revoke a key: it stops working with the next request
    Revoke {
        /// The key's public half
        api_key_id: String,
        #[command(flatten)]
        decision: Decision,
    },
}

/// Calls the api, but for `create --first`, which makes what the api needs before anybody can call it.
pub(crate) async fn run(
    command: ApiKeyCommand,
    load: impl FnOnce() -> Result<Config, CommandError>,
    output: &Output,
) -> Result<(), CommandError> {
    match command {
        ApiKeyCommand::Create { first: true, yes, valid_days, .. } => {
            let made = first::create(&load()?, valid_days, yes).await?;
            show(&made, output)
        }
        ApiKeyCommand::Create { service_account_id, scopes, valid_days, .. } => {
            let body = json!({
                "service_account_id": service_account_id,
                "scopes": scopes,
                "valid_seconds": valid_days.map(first::seconds),
            });
            show(&Client::from_environment(Holder::Operator)?.post("/v1/ops/api-keys", &body).await?, output)
        }
        ApiKeyCommand::Revoke { api_key_id, decision } => {
            let client = Client::from_environment(Holder::Operator)?;
            let path = format!("/v1/ops/api-keys/{api_key_id}/revoke");
            decision.carry_out(&client, &path, &["revoked_at"], output, revoked).await
        }
    }
}

fn revoked(key: &Value) -> String {
    format!("{} revoked since {}", super::text::of(&key["api_key_id"]), super::text::of(&key["revoked_at"]))
}

/// The key alone on stdout, so that it can be put where it belongs without being looked at.
fn show(made: &Value, output: &Output) -> Result<(), CommandError> {
    output.note("This key is shown once:");
    output.answer(made, |made| super::text::of(&made["api_key"]))
}
