//! `waybill object`: the files of exports, and why each is there or not.

use serde_json::{Value, json};

use super::{CommandError, pages, text};
use crate::client::{Client, Holder};
use crate::output::{Output, table};

const EXAMPLES: &str = "\
Examples:
  waybill object list --why                     what becomes of each file, and because of which rows
  waybill object list --dry-run                 what the collector would condemn or delete right now
  waybill object list --export exp_… --why
  waybill object list --unknown                 what lies in the store that no row knows; nobody deletes it";

const OBJECTS: &str = "/v1/ops/objects";

/// The states from which the collector moves anything without an export's own transition.
const COLLECTED_FROM: [State; 3] = [State::Writing, State::Verified, State::Condemned];

#[derive(Debug, clap::Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum ObjectCommand {
    /// List the files that attempts wrote
    List(List),
}

/// What to list.
#[derive(Debug, clap::Args)]
pub(crate) struct List {
    /// In this state alone
    #[arg(long, value_enum, conflicts_with = "unknown")]
    state: Option<State>,
    /// Of this export alone
    #[arg(long, value_name = "EXPORT", conflicts_with = "unknown")]
    export: Option<String>,
    /// Say what becomes of each, why, and what the rows say
    #[arg(long, conflicts_with = "unknown")]
    why: bool,
    /// Only what the collector would condemn or delete right now; it is not done
    #[arg(long, conflicts_with_all = ["unknown", "state"])]
    dry_run: bool,
    /// Objects in the store that no row knows, instead
    #[arg(long)]
    unknown: bool,
}

/// Where a candidate stands.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum State {
    /// Perhaps absent, partial or whole
    Writing,
    /// Whole and right
    Verified,
    /// The result of its export
    Selected,
    /// Nobody needs it; its object waits to be deleted
    Condemned,
    /// Its object is gone
    Deleted,
}

impl State {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Writing => "writing",
            Self::Verified => "verified",
            Self::Selected => "selected",
            Self::Condemned => "condemned",
            Self::Deleted => "deleted",
        }
    }
}

/// Calls the api with an operator's key.
pub(crate) async fn run(command: ObjectCommand, output: &Output) -> Result<(), CommandError> {
    let ObjectCommand::List(list) = command;
    let client = Client::from_environment(Holder::Operator)?;
    if list.unknown {
        let page = async |after: Option<&str>| {
            let after: Vec<_> = after.map(|after| ("after", after)).into_iter().collect();
            client.get(&text::address(&format!("{OBJECTS}/unknown"), &after)).await
        };
        let answer = json!({ "objects": pages::all_of(page, "objects").await? });
        return output.answer(&answer, |answer| {
            drawn(&answer["objects"], &["object_key", "bytes", "modified_at"], &[])
        });
    }
    let states: Vec<Option<State>> =
        if list.dry_run { COLLECTED_FROM.map(Some).to_vec() } else { vec![list.state] };
    let mut objects = Vec::new();
    for state in states {
        objects.extend(of_state(&client, state, list.export.as_deref()).await?);
    }
    if list.dry_run {
        objects.retain(|object| ["condemn", "delete"].map(Some).contains(&object["verdict"].as_str()));
    }
    let evidence: &[&str] =
        if list.why { &["attempt_state", "fence", "export_state", "export_fence"] } else { &[] };
    let members: &[&str] = if list.why || list.dry_run {
        &["candidate_id", "export_id", "state", "bytes", "created_at", "verdict", "why", "until"]
    } else {
        &["candidate_id", "export_id", "state", "bytes", "created_at", "verdict"]
    };
    output.answer(&json!({ "objects": objects }), |answer| drawn(&answer["objects"], members, evidence))
}

async fn of_state(
    client: &Client,
    state: Option<State>,
    export: Option<&str>,
) -> Result<Vec<Value>, CommandError> {
    let mut wanted = Vec::new();
    wanted.extend(state.map(|state| ("state", state.as_str())));
    wanted.extend(export.map(|export| ("export_id", export)));
    pages::all(client, &text::address(OBJECTS, &wanted), "objects").await
}

fn drawn(objects: &Value, members: &[&str], evidence: &[&str]) -> String {
    let rows: Vec<Vec<String>> = objects
        .as_array()
        .into_iter()
        .flatten()
        .map(|object| {
            let mut row = text::row(object, members);
            row.extend(text::row(&object["evidence"], evidence));
            row
        })
        .collect();
    table(&[members, evidence].concat(), &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_is_a_line_with_what_speaks_for_or_against_it() {
        let objects = json!([{
            "candidate_id": "can_1", "verdict": "keep", "why": "too-young",
            "evidence": { "attempt_state": "failed" },
        }]);
        let drawing = drawn(&objects, &["candidate_id", "verdict", "why"], &["attempt_state"]);
        for word in ["can_1", "keep", "too-young", "failed", "attempt_state"] {
            assert!(drawing.contains(word), "{word} is not in\n{drawing}");
        }
    }
}
