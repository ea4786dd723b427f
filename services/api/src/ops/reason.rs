//! A decision needs a reason, and names need bounds.

use serde::Deserialize;
use tokio_postgres::Transaction;
use waybill_store::StoreError;
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
struct Reasoned {
    reason: String,
}

/// Reads why something was decided.
pub(super) fn reason(body: &JsonBody) -> Answer<String> {
    let Reasoned { reason } = body.parse()?;
    text("reason", &reason, REASON_CHARACTERS_MAX)
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

/// Records a decision beside what it changes.
pub(super) async fn record(
    tx: &Transaction<'_>,
    principal: &Principal,
    action: &str,
    subject: &str,
    reason: &str,
) -> Result<i64, StoreError> {
    let principal = principal.service_account_id.as_str();
    let decision_id = decision::insert(tx, NewDecision { principal, action, subject, reason }).await?;
    tracing::info!(decision_id, action, subject, "decided");
    Ok(decision_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_reason_is_none() {
        let body = |json: &'static str| JsonBody(json.into());
        assert_eq!(reason(&body(r#"{"reason": " too many \u0020"}"#)).unwrap(), "too many");
        for wrong in [r#"{"reason": " "}"#, "{}", r#"{"reason": "a", "actor": "b"}"#, "[]", ""] {
            assert_eq!(reason(&body(wrong)).unwrap_err().code(), "request-invalid", "{wrong}");
        }
    }
}
