//! `waybill tenant`: who owns exports.

use serde_json::{Value, json};

use super::CommandError;
use crate::client::Client;
use crate::output::{Output, table};

const EXAMPLES: &str = "\
Examples:
  waybill tenant create acme
  waybill tenant create acme --running-limit 8
  waybill tenant list --json
  waybill tenant suspend ten_… --reason 'contract ended'";

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
    /// Suspend a tenant: its keys stop working at once, its exports go on
    Suspend {
        /// The tenant
        tenant_id: String,
        /// Why, for the record
        #[arg(long)]
        reason: String,
    },
}

/// Calls the api as the operator of `WAYBILL_API_KEY`.
pub(crate) async fn run(command: TenantCommand, output: &Output) -> Result<(), CommandError> {
    let client = Client::from_environment()?;
    match command {
        TenantCommand::Create { name, running_limit } => {
            let body = json!({ "name": name, "running_limit": running_limit });
            output.answer(&client.post("/v1/ops/tenants", &body).await?, text)
        }
        TenantCommand::List => {
            let tenants = super::pages::all(&client, "/v1/ops/tenants", "tenants").await?;
            output.answer(&json!({ "tenants": tenants }), |answer| list(&answer["tenants"]))
        }
        TenantCommand::Suspend { tenant_id, reason } => {
            let path = format!("/v1/ops/tenants/{tenant_id}/suspend");
            output.answer(&client.post(&path, &json!({ "reason": reason })).await?, text)
        }
    }
}

fn text(tenant: &Value) -> String {
    let [id, name, state] = ["tenant_id", "name", "state"].map(|member| super::text::of(&tenant[member]));
    format!("{id}  {name}  {state}")
}

fn list(tenants: &Value) -> String {
    let columns = ["tenant_id", "name", "state", "running_limit", "created_at"];
    let rows: Vec<_> =
        tenants.as_array().into_iter().flatten().map(|tenant| super::text::row(tenant, &columns)).collect();
    table(&columns, &rows)
}
