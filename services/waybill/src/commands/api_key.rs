//! `waybill api-key`: the passwords of service accounts.

mod first;

use serde_json::{Value, json};
use waybill_runtime::Config;

use super::CommandError;
use super::decision::Decision;
use crate::client::{Client, Holder};
use crate::output::{Output, table};

const SECONDS_OF_AN_HOUR: u32 = 3_600;

const EXAMPLES: &str = "\
Examples:
  waybill api-key create --first                            the first operator, through Postgres itself
  waybill api-key create sva_… --scope exports:read --scope exports:write
  waybill api-key create sva_… --scope ops --valid-days 90
  waybill api-key rotate key_… --overlap-hours 24 --reason 'every quarter'
  waybill api-key list --service-account sva_…              which there are, and when each ends
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
    /// Make a key that follows another one, with its account, its scopes and its term, and show it, once
    Rotate {
        /// The public half of the key that is followed
        api_key_id: String,
        /// How long the old key goes on working beside the new one
        #[arg(long, value_name = "HOURS", default_value_t = 24, value_parser = clap::value_parser!(u32).range(0..=2160))]
        overlap_hours: u32,
        #[command(flatten)]
        decision: Decision,
    },
    /// List keys in the order of their making, also those that no longer work
    List {
        /// Those of this service account alone
        #[arg(long, value_name = "SERVICE_ACCOUNT_ID")]
        service_account: Option<String>,
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
        ApiKeyCommand::Rotate { api_key_id, overlap_hours, decision } => {
            rotate(&api_key_id, overlap_hours, &decision, output).await
        }
        ApiKeyCommand::List { service_account } => list(service_account.as_deref(), output).await,
        ApiKeyCommand::Revoke { api_key_id, decision } => {
            let client = Client::from_environment(Holder::Operator)?;
            let path = format!("/v1/ops/api-keys/{api_key_id}/revoke");
            decision.carry_out(&client, &path, &["revoked_at"], output, revoked).await
        }
    }
}

async fn rotate(
    api_key_id: &str,
    overlap_hours: u32,
    decision: &Decision,
    output: &Output,
) -> Result<(), CommandError> {
    let client = Client::from_environment(Holder::Operator)?;
    let path = format!("/v1/ops/api-keys/{api_key_id}/rotate");
    let judge = async |reason: &str, is_dry_run: bool| {
        let overlap_seconds = overlap_hours.saturating_mul(SECONDS_OF_AN_HOUR);
        let body = json!({
            "reason": reason, "dry_run": is_dry_run, "overlap_seconds": overlap_seconds,
        });
        client.post(&path, &body).await
    };
    let text = |made: &Value| {
        output.note(&format!(
            "{api_key_id} ends at {}. This key is shown once:",
            super::text::of(&made["predecessor"]["expires_at"])
        ));
        super::text::of(&made["api_key"])
    };
    decision.carry_out_by(judge, &["predecessor"], output, text).await
}

async fn list(service_account: Option<&str>, output: &Output) -> Result<(), CommandError> {
    let client = Client::from_environment(Holder::Operator)?;
    let of: Vec<(&str, &str)> = service_account.map(|of| ("service_account_id", of)).into_iter().collect();
    let path = super::text::address("/v1/ops/api-keys", &of);
    let keys = super::pages::all(&client, &path, "api_keys").await?;
    output.answer(&json!({ "api_keys": keys }), |answer| {
        let columns =
            ["api_key_id", "service_account_id", "scopes", "created_at", "expires_at", "revoked_at"];
        let keys = answer["api_keys"].as_array().into_iter().flatten();
        table(&columns, &keys.map(|key| super::text::row(key, &columns)).collect::<Vec<_>>())
    })
}

fn revoked(key: &Value) -> String {
    format!("{} revoked since {}", super::text::of(&key["api_key_id"]), super::text::of(&key["revoked_at"]))
}

/// The key alone on stdout, so that it can be put where it belongs without being looked at.
fn show(made: &Value, output: &Output) -> Result<(), CommandError> {
    output.note("This key is shown once:");
    output.answer(made, |made| super::text::of(&made["api_key"]))
}
