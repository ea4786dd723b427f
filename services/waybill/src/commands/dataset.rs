//! `waybill dataset`: what can be exported, declared in files and kept as revisions.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use waybill_api::codes::DATASET_CHECK_FAILED;

use super::CommandError;
use super::text;
use crate::client::{Client, Holder};
use crate::exit::Exit;
use crate::output::{Output, table};

const EXAMPLES: &str = "\
Examples:
  waybill dataset check datasets/*.toml                 each file against the database that it names
  waybill dataset apply datasets/orders.toml --dry-run  what would change
  waybill dataset apply datasets/orders.toml
  waybill dataset list
  waybill dataset show orders --revision 3

A file that is applied becomes the next revision of its data set; exports that were accepted before are made by the one
that they were accepted with. docs/datasets.md has what a file can say.";

#[derive(Debug, clap::Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum DatasetCommand {
    /// Check files against the databases that they name; exit code 1 when one could not be applied
    Check {
        /// The files
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Make files the data sets' next revisions; one that changes nothing makes none
    Apply {
        /// The files
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Only say what would change
        #[arg(long)]
        dry_run: bool,
    },
    /// List the data sets
    List,
    /// Show a data set: its columns, what may be asked of it, and what each format makes of it
    Show {
        /// The data set
        dataset: String,
        /// Not as it is now, but as it was then
        #[arg(long, value_name = "NUMBER")]
        revision: Option<i64>,
    },
}

/// Calls the api as the operator of `WAYBILL_API_KEY`.
pub(crate) async fn run(command: DatasetCommand, output: &Output) -> Result<(), CommandError> {
    let client = Client::from_environment(Holder::Operator)?;
    match command {
        DatasetCommand::Check { files } => check(&client, &files, output).await,
        DatasetCommand::Apply { files, dry_run } => apply(&client, &files, dry_run, output).await,
        DatasetCommand::List => {
            let datasets = super::pages::all(&client, "/v1/ops/datasets", "datasets").await?;
            output.answer(&json!({ "datasets": datasets }), |answer| list(&answer["datasets"]))
        }
        DatasetCommand::Show { dataset, revision } => {
            let number = revision.map(|number| number.to_string());
            let which: Vec<(&str, &str)> =
                number.iter().map(|number| ("revision", number.as_str())).collect();
            let shown = client.get(&text::address(&format!("/v1/ops/datasets/{dataset}"), &which)).await?;
            output.answer(&shown, show)
        }
    }
}

async fn check(client: &Client, files: &[PathBuf], output: &Output) -> Result<(), CommandError> {
    let mut checked = Vec::with_capacity(files.len());
    for file in files {
        let mut answer = client.post("/v1/ops/dataset-check", &json!({ "file": read(file)? })).await?;
        answer["file"] = json!(file);
        checked.push(answer);
    }
    let failing = checked.iter().filter(|answer| answer["passes"] != true).count();
    output.answer(&json!({ "files": checked }), |answer| {
        items(&answer["files"]).map(check_text).collect::<Vec<_>>().join("\n")
    })?;
    if failing == 0 {
        return Ok(());
    }
    let message = format!("{failing} of {} files cannot be applied", files.len());
    Err(CommandError::new(Exit::Failed, DATASET_CHECK_FAILED, message))
}

async fn apply(
    client: &Client,
    files: &[PathBuf],
    dry_run: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let mut applied = Vec::with_capacity(files.len());
    for file in files {
        let body = json!({ "file": read(file)?, "dry_run": dry_run });
        let answer = client.post("/v1/ops/datasets", &body).await.map_err(|mut error| {
            error.message = format!("{}: {}", file.display(), error.message);
            error
        })?;
        // What was applied before a file that is refused stays so: it is said at once.
        output.note(&apply_text(&answer, dry_run));
        applied.push(answer);
    }
    if output.json { output.json(&json!({ "datasets": applied })) } else { Ok(()) }
}

fn read(file: &Path) -> Result<String, CommandError> {
    std::fs::read_to_string(file).map_err(|error| {
        let message = format!("cannot read {}", file.display());
        CommandError::new(Exit::Usage, crate::codes::USAGE, message).with_source(error)
    })
}

fn items(array: &Value) -> impl Iterator<Item = &Value> {
    array.as_array().into_iter().flatten()
}

fn check_text(answer: &Value) -> String {
    let verdict = if answer["passes"] == true { "can be applied" } else { "cannot be applied" };
    let mut said = format!("{}: {verdict}", text::of(&answer["file"]));
    for problem in items(&answer["problems"]) {
        let [line, key, problem] = ["line", "key", "problem"].map(|member| text::of(&problem[member]));
        said.push_str(&format!("\n  line {line}: {key} {problem}"));
    }
    for finding in items(&answer["findings"]) {
        let [level, subject, message] =
            ["level", "subject", "message"].map(|member| text::of(&finding[member]));
        said.push_str(&format!("\n  {level:<4}  {subject}: {message}"));
        if let Some(hint) = finding["hint"].as_str() {
            said.push_str(&format!("\n        → {hint}"));
        }
    }
    said
}

fn apply_text(answer: &Value, dry_run: bool) -> String {
    let [dataset, revision] = ["dataset", "revision"].map(|member| text::of(&answer[member]));
    let mut changes = items(&answer["changes"]).peekable();
    if changes.peek().is_none() {
        return format!("{dataset}  revision {revision}, nothing changes");
    }
    let mut said = if dry_run {
        format!("{dataset}  revision {revision} would be followed by another")
    } else {
        format!("{dataset}  revision {revision}")
    };
    for change in changes {
        said.push_str(&format!("\n  {}", text::of(change)));
    }
    said
}

fn list(datasets: &Value) -> String {
    let columns = ["dataset", "revision", "source", "applied_at", "description"];
    let rows: Vec<_> = items(datasets).map(|dataset| text::row(dataset, &columns)).collect();
    table(&columns, &rows)
}

fn show(dataset: &Value) -> String {
    let line = |name: &str, value: String| format!("  {name:<18}{value}\n");
    let [name, revision] = ["dataset", "revision"].map(|member| text::of(&dataset[member]));
    let mut said = format!("{name}  revision {revision}\n");
    if let Some(description) = dataset["description"].as_str() {
        said.push_str(&line("", description.to_owned()));
    }
    for (name, member) in [("source", "source"), ("rows", "rows"), ("owner", "owner")] {
        said.push_str(&line(name, text::of(&dataset[member])));
    }
    let seconds = |member: &str| format!("{} s", text::of(&dataset[member]));
    said.push_str(&line("snapshot age", seconds("max_snapshot_age_seconds")));
    said.push_str(&line("statement timeout", seconds("statement_timeout_seconds")));
    said.push_str(&line("orders", keys(&dataset["orders"])));
    said.push_str(&line("filters", keys(&dataset["filters"])));
    for format in items(&dataset["formats"]) {
        let refused: Vec<String> =
            items(&format["refused"]).map(|refused| text::of(&refused["column"])).collect();
        let held = if refused.is_empty() {
            "holds every column".to_owned()
        } else {
            format!("cannot hold {}", refused.join(", "))
        };
        said.push_str(&line(&text::of(&format["format"]), held));
    }
    let columns = ["name", "type", "description"];
    let rows: Vec<_> = items(&dataset["columns"]).map(|column| text::row(column, &columns)).collect();
    said + &table(&columns, &rows)
}

/// The names in an object.
fn keys(object: &Value) -> String {
    let names: Vec<&str> = object.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    if names.is_empty() { "-".to_owned() } else { names.join(", ") }
}
