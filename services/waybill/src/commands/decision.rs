//! Decisions that destroy or repeat something: with a reason, asked for once more at a terminal, or only tried out.

use std::io::{self, BufRead, IsTerminal};

use serde_json::{Value, json};

use super::outbox::direct;
use super::{CommandError, text};
use crate::client::{Client, codes};
use crate::exit::Exit;
use crate::output::Output;

/// What every decision takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Decision {
    /// Why, for the record
    #[arg(long)]
    reason: String,
    /// Say what would change, or be refused with exit code 4, and change nothing
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Do not ask; only a terminal is ever asked
    #[arg(long)]
    yes: bool,
}

impl Decision {
    /// Why, for the record: not empty, and without blanks around it.
    pub(super) fn reason(&self) -> Result<String, CommandError> {
        waybill_operator::reason(&self.reason).map_err(|refusal| direct::refused(&refusal))
    }

    /// Whether nothing is to be changed.
    pub(super) const fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    /// Asks whether what `would` says is meant, where somebody can be asked.
    pub(super) fn ask(&self, output: &Output, would: impl FnOnce() -> String) -> Result<(), CommandError> {
        if !self.asks(output) {
            return Ok(());
        }
        output.note(&would());
        confirm(&mut io::stdin().lock())
    }

    fn asks(&self, output: &Output) -> bool {
        !self.yes && !output.json && io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Posts the decision to `path`, where the api judges it, also when it is only tried out. `members` are those of
    /// the answer that a decision changes, `text` is what a person reads of it.
    pub(super) async fn carry_out(
        &self,
        client: &Client,
        path: &str,
        members: &[&str],
        output: &Output,
        text: impl Fn(&Value) -> String,
    ) -> Result<(), CommandError> {
        let post = async |reason: &str, is_dry_run| {
            client.post(path, &json!({ "reason": reason, "dry_run": is_dry_run })).await
        };
        self.carry_out_by(post, members, output, text).await
    }

    /// [`Self::carry_out`] by `judge`, who is told the reason and whether it is only tried out, and asked once, or twice
    /// where a person is shown what would change.
    pub(super) async fn carry_out_by(
        &self,
        mut judge: impl AsyncFnMut(&str, bool) -> Result<Value, CommandError>,
        members: &[&str],
        output: &Output,
        text: impl Fn(&Value) -> String,
    ) -> Result<(), CommandError> {
        let reason = self.reason()?;
        if self.dry_run {
            return output.answer(&judge(&reason, true).await?, |would| changes(would, members));
        }
        if self.asks(output) {
            output.note(&changes(&judge(&reason, true).await?, members));
            confirm(&mut io::stdin().lock())?;
        }
        output.answer(&judge(&reason, false).await?, text)
    }
}

/// What a decision that was tried out would change, one line a member.
fn changes(would: &Value, members: &[&str]) -> String {
    let before = &would["before"];
    let changed = members.iter().filter(|member| before[**member] != would[**member]);
    let lines: Vec<String> = changed
        .map(|member| {
            format!(
                "would change {member} from {} to {}",
                text::of(&before[*member]),
                text::of(&would[*member])
            )
        })
        .collect();
    if !lines.is_empty() {
        return lines.join("\n");
    }
    let as_it_is = members.iter().map(|member| format!("{member} is {} already", text::of(&before[*member])));
    format!("would change nothing: {}", as_it_is.collect::<Vec<_>>().join(", "))
}

/// Asks whether it is meant. The end of the input is no yes.
fn confirm(input: &mut impl BufRead) -> Result<(), CommandError> {
    eprint!("go on? [y/N] ");
    let mut line = String::new();
    let unread = |error| {
        CommandError::new(Exit::Failed, codes::NOT_CONFIRMED, "the answer cannot be read").with_source(error)
    };
    input.read_line(&mut line).map_err(unread)?;
    if ["y", "yes"].contains(&line.trim().to_ascii_lowercase().as_str()) {
        return Ok(());
    }
    Err(CommandError::new(Exit::Failed, codes::NOT_CONFIRMED, "not confirmed; nothing was changed")
        .with_hint("--yes does not ask"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Decision, changes, confirm};

    #[test]
    fn a_reason_has_no_blanks_around_it_and_an_empty_one_is_none() {
        let decision = |reason: &str| Decision { reason: reason.to_owned(), dry_run: false, yes: false };
        assert_eq!(decision(" restored to 03:00\n").reason().unwrap(), "restored to 03:00");
        for none in ["", " ", "\t\n"] {
            assert_eq!(decision(none).reason().unwrap_err().code, "request-invalid", "{none:?}");
        }
    }

    #[test]
    fn only_yes_is_yes() {
        for yes in ["y\n", "Yes\n", " YES \n", "y"] {
            assert!(confirm(&mut yes.as_bytes()).is_ok(), "{yes:?}");
        }
        for no in ["", "\n", "n\n", "yep\n", "no, y\n"] {
            assert_eq!(confirm(&mut no.as_bytes()).unwrap_err().code, "not-confirmed", "{no:?}");
        }
    }

    #[test]
    fn a_dry_run_names_what_would_change_and_says_when_nothing_would() {
        let would = json!({ "state": "suspended", "before": { "state": "active" } });
        assert_eq!(changes(&would, &["state"]), "would change state from active to suspended");
        let would = json!({ "state": "suspended", "before": { "state": "suspended" } });
        assert_eq!(changes(&would, &["state"]), "would change nothing: state is suspended already");
        let would = json!({ "revoked_at": "2026-01-01T00:00:00Z", "before": { "revoked_at": null } });
        assert_eq!(
            changes(&would, &["revoked_at"]),
            "would change revoked_at from - to 2026-01-01T00:00:00Z"
        );
    }
}
