//! A decision needs a reason, and names need bounds.

use axum::Json;
use deadpool_postgres::Transaction;
use serde::Deserialize;
use serde_json::Value;
use waybill_store::decision::{self, NewDecision};

use crate::principal::Principal;
use crate::problem::{Answer, Problem};
use crate::request::JsonBody;

/// The longest reason, in characters.
const REASON_CHARACTERS_MAX: usize = 1_000;
/// The longest name, in characters; the columns' CHECKs say the same.
const NAME_CHARACTERS_MAX: usize = 200;

/// The body of a decision.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reasoned {
    /// Why, in the person's words.
    pub(super) reason: String,
    /// Everything is done but kept: the answer, also a refusal, is that of the decision itself.
    #[serde(default)]
    pub(super) dry_run: bool,
}

/// Reads why something is decided.
pub(super) fn reason(body: &JsonBody) -> Answer<Reasoned> {
    let Reasoned { reason, dry_run } = body.parse()?;
    Ok(Reasoned { reason: text("reason", &reason, REASON_CHARACTERS_MAX)?, dry_run })
}

/// Reads a name.
pub(super) fn name(name: &str) -> Answer<String> {
    text("name", name, NAME_CHARACTERS_MAX)
}

fn text(field: &str, text: &str, characters_max: usize) -> Answer<String> {
    let text = text.trim();
    let fits = (1..=characters_max).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    if fits {
        return Ok(text.to_owned());
    }
    Err(Problem::field(field, format!("must be 1 to {characters_max} characters without control characters")))
}

/// Something that was decided and carried out, in a transaction that is still open.
pub(super) struct Decided<'a> {
    /// What was decided, such as `tenant.suspend`.
    pub(super) action: &'static str,
    /// The id of what it was decided about.
    pub(super) subject: &'a str,
    pub(super) reasoned: &'a Reasoned,
    /// The subject as it was.
    pub(super) before: Value,
    /// The subject as it is now.
    pub(super) after: Value,
}

/// Records the decision beside what it changes and keeps both; or, in a dry run, keeps nothing and says what would
/// have changed.
pub(super) async fn conclude(
    tx: Transaction<'_>,
    principal: &Principal,
    decided: Decided<'_>,
) -> Answer<Json<Value>> {
    let Decided { action, subject, reasoned, before, mut after } = decided;
    if reasoned.dry_run {
        tx.rollback().await?;
        after["dry_run"] = true.into();
        after["before"] = before;
        return Ok(Json(after));
    }
    let principal = principal.service_account_id.as_str();
    let decision = NewDecision { principal, action, subject, reason: &reasoned.reason };
    let decision_id = decision::insert(&*tx, decision).await?;
    tx.commit().await?;
    tracing::info!(decision_id, action, subject, "decided");
    Ok(Json(after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_dry_run_that_is_asked_for_is_one() {
        let body = |json: &'static str| JsonBody(json.into());
        assert!(!reason(&body(r#"{"reason": "a"}"#)).unwrap().dry_run);
        assert!(reason(&body(r#"{"reason": "a", "dry_run": true}"#)).unwrap().dry_run);
    }

    #[test]
    fn a_blank_reason_is_none() {
        let body = |json: &'static str| JsonBody(json.into());
        assert_eq!(reason(&body(r#"{"reason": " too many \u0020"}"#)).unwrap().reason, "too many");
        for wrong in [r#"{"reason": " "}"#, "{}", r#"{"reason": "a", "actor": "b"}"#, "[]", ""] {
            assert_eq!(
                reason(&body(wrong)).err().map(|problem| problem.code()),
                Some("request-invalid"),
                "{wrong}"
            );
        }
    }
}
