//! `waybill export create`.

use clap::ValueEnum;
use reqwest::StatusCode;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::super::{CommandError, text};
use super::wish::{self, Condition};
use crate::client::Client;
use crate::exit::Exit;
use crate::output::Output;

/// A format, as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatName {
    /// Comma-separated values
    Csv,
    /// One JSON object a line
    Ndjson,
    /// Apache Parquet
    Parquet,
}

/// A compression, as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CompressionName {
    /// Nothing
    None,
    /// gzip
    Gzip,
    /// Zstandard
    Zstd,
}

/// What is asked for.
#[derive(Debug, clap::Args)]
pub(crate) struct Create {
    /// The data set
    dataset: String,
    /// The Idempotency-Key: the same one again answers the same export [default: a new one]
    #[arg(long, value_name = "KEY")]
    intent: Option<String>,
    /// The file's format
    #[arg(long, value_enum, default_value_t = FormatName::Csv)]
    format: FormatName,
    /// An option of the format, such as header=false or delimiter=; (may be given several times)
    #[arg(long = "option", value_name = "OPTION=VALUE", value_parser = wish::option)]
    options: Vec<(String, Value)>,
    /// What the file is compressed with [default: as the data set says]
    #[arg(long, value_enum)]
    compression: Option<CompressionName>,
    /// A column of the file, in order; without any, all of them
    #[arg(long = "column", value_name = "COLUMN")]
    columns: Vec<String>,
    /// Which rows: status=paid, 'total>=10', name^=Ada, 'paid_at is null'; all must hold, and several values of one
    /// column mean any of them
    #[arg(long = "filter", value_name = "CONDITION", value_parser = wish::condition)]
    filters: Vec<Condition>,
    /// One of the data set's orders [default: as the data set says]
    #[arg(long)]
    order: Option<String>,
    /// What people call it; searchable
    #[arg(long)]
    name: Option<String>,
    /// A label; searchable; may be given several times
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label)]
    labels: Vec<(String, String)>,
    /// How long the file is kept, such as 12h or 7d after its completion, or until when [default: as the deployment says]
    #[arg(long, value_name = "LENGTH or TIME")]
    expiry: Option<String>,
    /// A mail address that is told about the outcome
    #[arg(long = "notify-email", value_name = "ADDRESS")]
    emails: Vec<String>,
    /// A URL that is told about the outcome
    #[arg(long = "notify-webhook", value_name = "URL")]
    webhooks: Vec<String>,
    /// Follow it until it ends, as `export wait` does
    #[arg(long)]
    wait: bool,
    /// With --wait: how long to wait at the most
    #[arg(long, value_name = "SECONDS", default_value_t = 3600, requires = "wait")]
    timeout: u64,
}

fn label(text: &str) -> Result<(String, String), &'static str> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

pub(super) async fn run(client: &Client, create: Create, output: &Output) -> Result<(), CommandError> {
    let follows = create.wait.then_some(create.timeout);
    let intent = create.intent.clone().unwrap_or_else(|| Uuid::now_v7().to_string());
    // Said before it is sent: whoever loses the answer can send the same intent again.
    output.note(&format!("intent {intent}"));
    let answer = client.post_intent("/v1/exports", &intent, &body(create)).await;
    let mut answer = answer.map_err(|error| with_intent(error, &intent))?;
    let is_new = answer.status == StatusCode::ACCEPTED;
    answer.body["intent"] = intent.into();
    if let Some(seconds_max) = follows {
        let export_id = text::of(&answer.body["export_id"]);
        output.note(&export_id);
        return super::wait::run(client, &export_id, seconds_max, output).await;
    }
    output.answer(&answer.body, |export| {
        let known = if is_new { "" } else { "  (known intent)" };
        format!("{}  {}{known}", text::of(&export["export_id"]), text::of(&export["state"]))
    })
}

/// The error with what it takes to find out what became of the request, or to ask once more.
pub(super) fn with_intent(error: CommandError, intent: &str) -> CommandError {
    let error = error.with_member("intent", intent);
    match error.exit {
        // Whether the export was accepted is not known: only the same intent asks for the same one.
        Exit::Failed | Exit::Unavailable => {
            let hint = error.hint.clone().map_or_else(String::new, |hint| format!("; {hint}"));
            error.with_hint(format!("resend with --intent {intent}{hint}"))
        }
        Exit::Usage | Exit::NotFound | Exit::Refused => error,
    }
}

/// A value of a flag as it is typed, which is how the api calls it.
fn typed(value: &impl ValueEnum) -> Option<String> {
    Some(value.to_possible_value()?.get_name().to_owned())
}

fn body(create: Create) -> Value {
    let options: Map<String, Value> = create.options.into_iter().collect();
    let labels: Map<String, Value> =
        create.labels.into_iter().map(|(key, value)| (key, value.into())).collect();
    let emails = create.emails.iter().map(|target| json!({ "channel": "email", "target": target }));
    let webhooks = create.webhooks.iter().map(|target| json!({ "channel": "webhook", "target": target }));
    json!({
        "dataset": create.dataset,
        "format": typed(&create.format),
        "options": (!options.is_empty()).then_some(options),
        "compression": create.compression.as_ref().and_then(typed),
        "columns": (!create.columns.is_empty()).then_some(create.columns),
        "filters": wish::filters(create.filters),
        "order": create.order,
        "name": create.name,
        "labels": labels,
        "expiry": create.expiry,
        "notify": emails.chain(webhooks).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_lost_says_with_which_intent_to_resend() {
        let lost = CommandError::new(Exit::Unavailable, "api-unreachable", "no answer").with_hint("check it");
        let lost = with_intent(lost, "intent-7");
        assert_eq!(lost.hint.as_deref(), Some("resend with --intent intent-7; check it"));
        assert_eq!(lost.json()["intent"], "intent-7");
    }

    #[test]
    fn a_refusal_keeps_its_own_remedy_and_names_the_intent_to_a_script() {
        let refused = CommandError::new(Exit::Refused, "intent-mismatch", "no").with_hint("choose another");
        let refused = with_intent(refused, "intent-7");
        assert_eq!(refused.hint.as_deref(), Some("choose another"));
        assert_eq!(refused.json()["intent"], "intent-7");
    }
}
