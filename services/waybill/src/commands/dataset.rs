//! `waybill dataset`: what can be exported.

use serde_json::{Value, json};

use super::CommandError;
use crate::client::{Client, Holder};
use crate::exit::Exit;
use crate::output::{Output, table};

const EXAMPLES: &str = "\
Examples:
  waybill dataset register orders --relation shop.orders --tenant-column tenant_id --key-column order_id
  waybill dataset register visits --relation web.visits --tenant-column tenant \\
      --key-column day --key-column visit_id --column day --column page
  waybill dataset list

The worker's login needs SELECT on the relation; what is missing is answered as the GRANT to run.";

#[derive(Debug, clap::Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum DatasetCommand {
    /// Register a table or view; registering the same again changes nothing
    Register {
        /// The name that callers ask for
        dataset: String,
        /// Where its rows are, as SCHEMA.RELATION
        #[arg(long, value_name = "SCHEMA.RELATION")]
        relation: String,
        /// The column that holds the tenant's id
        #[arg(long, value_name = "COLUMN")]
        tenant_column: String,
        /// A column that orders the rows, together unique in a tenant; may be given several times
        #[arg(long = "key-column", value_name = "COLUMN", required = true)]
        key_columns: Vec<String>,
        /// A column that may be exported; without any, all of them
        #[arg(long = "column", value_name = "COLUMN")]
        columns: Vec<String>,
    },
    /// List the data sets
    List,
}

/// Calls the api as the operator of `WAYBILL_API_KEY`.
pub(crate) async fn run(command: DatasetCommand, output: &Output) -> Result<(), CommandError> {
    match command {
        DatasetCommand::Register { dataset, relation, tenant_column, key_columns, columns } => {
            let (schema, relation) = split(&relation)?;
            let body = json!({
                "dataset": dataset,
                "source_schema": schema,
                "source_relation": relation,
                "tenant_column": tenant_column,
                "key_columns": key_columns,
                "columns": (!columns.is_empty()).then_some(columns),
            });
            let client = Client::from_environment(Holder::Operator)?;
            output.answer(&client.post("/v1/ops/datasets", &body).await?, text)
        }
        DatasetCommand::List => {
            let client = Client::from_environment(Holder::Operator)?;
            let datasets = super::pages::all(&client, "/v1/ops/datasets", "datasets").await?;
            output.answer(&json!({ "datasets": datasets }), |answer| list(&answer["datasets"]))
        }
    }
}

/// The first dot parts the schema from the relation, whose name may hold others.
fn split(relation: &str) -> Result<(&str, &str), CommandError> {
    relation.split_once('.').filter(|(schema, name)| !schema.is_empty() && !name.is_empty()).ok_or_else(
        || {
            let message = format!("--relation {relation}: expected SCHEMA.RELATION");
            CommandError::new(Exit::Usage, crate::codes::USAGE, message)
        },
    )
}

fn text(dataset: &Value) -> String {
    let [name, schema, relation, columns] = ["dataset", "source_schema", "source_relation", "columns"]
        .map(|member| super::text::of(&dataset[member]));
    format!("{name}  {schema}.{relation}  {columns}")
}

fn list(datasets: &Value) -> String {
    let columns = ["dataset", "source_schema", "source_relation", "tenant_column", "key_columns", "columns"];
    let rows: Vec<_> = datasets
        .as_array()
        .into_iter()
        .flatten()
        .map(|dataset| super::text::row(dataset, &columns))
        .collect();
    table(&columns, &rows)
}
