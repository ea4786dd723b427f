//! `waybill tenant`: who owns exports.

use serde_json::{Value, json};
use waybill_domain::ids::TenantId;
use waybill_notifier::tenant_webhook_secret;
use waybill_runtime::Config;

use super::CommandError;
use super::decision::Decision;
use crate::client::{Client, Holder};
use crate::codes;
use crate::exit::Exit;
use crate::output::{Output, table};

const EXAMPLES: &str = "\
Examples:
  waybill tenant create acme
  waybill tenant create acme --running-limit 8
  waybill tenant list --json
  waybill tenant limits ten_… --running 4 --rows-a-day 5000000 --reason 'larger contract'
  waybill tenant limits ten_… --bytes-kept none --reason 'larger contract'
  waybill tenant usage                      with a tenant's key: what it may have, and has
  waybill tenant suspend ten_… --reason 'contract ended' --dry-run
  waybill tenant suspend ten_… --reason 'contract ended' --yes
  waybill tenant resume ten_… --reason 'contract renewed'
  waybill tenant webhook-secret ten_…       what its receivers check signatures with";

#[derive(Debug, clap::Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum TenantCommand {
    /// Make a tenant
    Create {
        /// What people call it; unique
        name: String,
        /// How many of its exports may run at once
        #[arg(long, value_name = "EXPORTS", default_value_t = 2)]
        running_limit: u16,
    },
    /// List the tenants
    List,
    /// Change what a tenant may have; what is not said stays
    Limits(Limits),
    /// Show what the tenant of this key may have, and has
    Usage,
    /// Suspend a tenant: its keys stop working at once, its waiting exports wait, its running ones end
    Suspend {
        /// The tenant
        tenant_id: String,
        #[command(flatten)]
        decision: Decision,
    },
    /// Take a suspension back: the tenant's keys work again at once
    Resume {
        /// The tenant
        tenant_id: String,
        #[command(flatten)]
        decision: Decision,
    },
    /// Print the key with which this tenant's webhooks are signed; reads the configuration, asks nobody
    WebhookSecret {
        /// The tenant
        tenant_id: String,
    },
}

/// What a tenant may have.
#[derive(Debug, clap::Args)]
pub(crate) struct Limits {
    /// The tenant
    tenant_id: String,
    /// How many of its exports may run at once
    #[arg(long, value_name = "EXPORTS")]
    running: Option<u32>,
    /// How many of its exports may wait at once
    #[arg(long, value_name = "EXPORTS")]
    waiting: Option<u32>,
    /// How many rows its results of one UTC day may have, or none for any number
    #[arg(long, value_name = "ROWS", value_parser = number_or_none)]
    rows_a_day: Option<Limit>,
    /// How many bytes its kept results may have, or none for any number
    #[arg(long, value_name = "BYTES", value_parser = number_or_none)]
    bytes_kept: Option<Limit>,
    #[command(flatten)]
    decision: Decision,
}

/// A limit that there need not be.
#[derive(Debug, Clone, Copy)]
struct Limit(Option<u64>);

fn number_or_none(text: &str) -> Result<Limit, &'static str> {
    if text == "none" {
        return Ok(Limit(None));
    }
    text.parse().map(|number| Limit(Some(number))).map_err(|_no_number| "expected a number or none")
}

/// The limits as the api calls them.
const LIMITS: [&str; 4] = ["running_limit", "waiting_limit", "rows_a_day_limit", "bytes_kept_limit"];

async fn limit(limits: &Limits, output: &Output) -> Result<(), CommandError> {
    let client = Client::from_environment(Holder::Operator)?;
    let path = format!("/v1/ops/tenants/{}", limits.tenant_id);
    let said = [
        limits.running.map(|running| json!(running)),
        limits.waiting.map(|waiting| json!(waiting)),
        limits.rows_a_day.map(|Limit(rows)| json!(rows)),
        limits.bytes_kept.map(|Limit(bytes)| json!(bytes)),
    ];
    let judge = async |reason: &str, is_dry_run: bool| {
        let mut body = json!({ "reason": reason, "dry_run": is_dry_run });
        for (name, value) in LIMITS.iter().zip(&said) {
            if let Some(value) = value {
                body[*name] = value.clone();
            }
        }
        client.patch(&path, &body).await
    };
    limits.decision.carry_out_by(judge, &LIMITS, output, |tenant| list(&json!([tenant]))).await
}

fn used(usage: &Value) -> String {
    let rows: Vec<Vec<String>> = ["waiting", "running", "rows_a_day", "bytes_kept"]
        .iter()
        .map(|quota| {
            let mut row = vec![(*quota).to_owned()];
            row.extend(super::text::row(&usage[*quota], &["used", "limit"]));
            row
        })
        .collect();
    table(&["quota", "used", "limit"], &rows)
}

/// Calls the api as the operator of `WAYBILL_API_KEY`; the webhook key alone comes from the configuration.
pub(crate) async fn run(
    command: TenantCommand,
    config: impl FnOnce() -> Result<Config, CommandError>,
    output: &Output,
) -> Result<(), CommandError> {
    match command {
        TenantCommand::Create { name, running_limit } => {
            let body = json!({ "name": name, "running_limit": running_limit });
            output.answer(
                &Client::from_environment(Holder::Operator)?.post("/v1/ops/tenants", &body).await?,
                text,
            )
        }
        TenantCommand::List => {
            let client = Client::from_environment(Holder::Operator)?;
            let tenants = super::pages::all(&client, "/v1/ops/tenants", "tenants").await?;
            output.answer(&json!({ "tenants": tenants }), |answer| list(&answer["tenants"]))
        }
        TenantCommand::Limits(limits) => limit(&limits, output).await,
        TenantCommand::Usage => {
            let usage = Client::from_environment(Holder::Tenant)?.get("/v1/usage").await?;
            output.answer(&usage, used)
        }
        TenantCommand::Suspend { tenant_id, decision } => {
            decide(&tenant_id, "suspend", &decision, output).await
        }
        TenantCommand::Resume { tenant_id, decision } => {
            decide(&tenant_id, "resume", &decision, output).await
        }
        TenantCommand::WebhookSecret { tenant_id } => webhook_secret(&tenant_id, &config()?, output),
    }
}

async fn decide(
    tenant_id: &str,
    verb: &str,
    decision: &Decision,
    output: &Output,
) -> Result<(), CommandError> {
    let client = Client::from_environment(Holder::Operator)?;
    let path = format!("/v1/ops/tenants/{tenant_id}/{verb}");
    decision.carry_out(&client, &path, &["state"], output, text).await
}

fn webhook_secret(tenant_id: &str, config: &Config, output: &Output) -> Result<(), CommandError> {
    let tenant_id = TenantId::parse(tenant_id)
        .map_err(|error| CommandError::new(Exit::Usage, codes::USAGE, error.to_string()))?;
    let master =
        config.notifier.webhook.signing_secret().map_err(super::config::refused)?.ok_or_else(|| {
            let message = "[notifier.webhook] signing_secret is not set, so no webhook is signed or sent";
            CommandError::new(Exit::Usage, codes::USAGE, message)
        })?;
    let secret = tenant_webhook_secret(&master, &tenant_id);
    let answer = json!({ "tenant_id": tenant_id, "webhook_secret": secret.expose() });
    output.answer(&answer, |answer| super::text::of(&answer["webhook_secret"]))
}

fn text(tenant: &Value) -> String {
    let [id, name, state] = ["tenant_id", "name", "state"].map(|member| super::text::of(&tenant[member]));
    format!("{id}  {name}  {state}")
}

fn list(tenants: &Value) -> String {
    let columns = [&["tenant_id", "name", "state"][..], &LIMITS, &["created_at"]].concat();
    let rows: Vec<_> =
        tenants.as_array().into_iter().flatten().map(|tenant| super::text::row(tenant, &columns)).collect();
    table(&columns, &rows)
}
