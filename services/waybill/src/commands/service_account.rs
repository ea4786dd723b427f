//! `waybill service-account`: the callers of a tenant, and the operators.

use serde_json::json;

use super::CommandError;
use crate::client::{Client, Holder};
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  waybill service-account create nightly --tenant ten_…
  waybill service-account create oncall                     an operator's: without a tenant";

#[derive(Debug, clap::Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum ServiceAccountCommand {
    /// Make a service account; intents belong to it, its keys rotate
    Create {
        /// What people call it; unique in its tenant
        name: String,
        /// Whose it is; without it, an operator's
        #[arg(long, value_name = "TENANT_ID")]
        tenant: Option<String>,
    },
}

/// Calls the api as the operator of `WAYBILL_API_KEY`.
pub(crate) async fn run(command: ServiceAccountCommand, output: &Output) -> Result<(), CommandError> {
    let client = Client::from_environment(Holder::Operator)?;
    match command {
        ServiceAccountCommand::Create { name, tenant } => {
            let body = json!({ "name": name, "tenant_id": tenant });
            let made = client.post("/v1/ops/service-accounts", &body).await?;
            output.answer(&made, |made| super::text::of(&made["service_account_id"]))
        }
    }
}
