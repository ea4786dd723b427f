//! The frame of every decision: an operator, a reason, one transaction in which it is carried out and recorded, or only
//! tried out.

use axum::Json;
use deadpool_postgres::Transaction;
use serde::Deserialize;
use serde_json::Value;
use waybill_operator::Outcome;
use waybill_runtime::chain;
use waybill_store::decision::{self, NewDecision};

use crate::app::App;
use crate::principal::Principal;
use crate::problem::Answer;
use crate::request::JsonBody;

/// The body of a decision.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reasoned {
    /// Why, in the person's words.
    reason: String,
    /// Everything is done but kept: the answer, also a refusal, is that of the decision itself.
    #[serde(default)]
    dry_run: bool,
}

/// Something that was decided and carried out, in a transaction that is still open.
pub(super) struct Decided<'a> {
    /// What was decided, such as `tenant.suspend`.
    pub(super) action: &'static str,
    /// What it was decided about.
    pub(super) subject: &'a str,
    pub(super) outcome: Outcome,
}

/// Lets an operator decide: `carry_out` is given the transaction and the reason. The decision is recorded beside what it
/// changes and both are kept; or, in a dry run, neither is, and the answer says what would have changed.
pub(super) async fn decide<'a>(
    app: &App,
    principal: &Principal,
    body: &JsonBody,
    carry_out: impl AsyncFnOnce(&Transaction<'_>, &str) -> Answer<Decided<'a>>,
) -> Answer<Json<Value>> {
    principal.operator()?;
    let Reasoned { reason, dry_run } = reasoned(body)?;
    let mut db = app.export().await?;
    let tx = db.transaction().await?;
    let Decided { action, subject, outcome } = carry_out(&tx, &reason).await?;
    if dry_run {
        tx.rollback().await?;
        return Ok(Json(outcome.answer(dry_run)));
    }
    let principal = principal.service_account_id.as_str();
    let decision = NewDecision { principal, action, subject, reason: &reason };
    let decision_id = decision::insert(&*tx, decision).await?;
    tx.commit().await?;
    tracing::info!(decision_id, action, subject, "decided");
    // Something may have been written to the outbox, or let go on. It is only a hint: the relay polls as well.
    if let Err(error) = waybill_outbox::wake(&db).await {
        tracing::debug!(error = %chain(&error), "could not wake the relay");
    }
    Ok(Json(outcome.answer(dry_run)))
}

fn reasoned(body: &JsonBody) -> Answer<Reasoned> {
    let Reasoned { reason, dry_run } = body.parse()?;
    Ok(Reasoned { reason: waybill_operator::reason(&reason)?, dry_run })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_dry_run_that_is_asked_for_is_one() {
        let body = |json: &'static str| JsonBody(json.into());
        assert!(!reasoned(&body(r#"{"reason": "a"}"#)).unwrap().dry_run);
        assert!(reasoned(&body(r#"{"reason": "a", "dry_run": true}"#)).unwrap().dry_run);
    }

    #[test]
    fn a_decision_without_a_reason_or_with_an_actor_in_its_body_is_refused() {
        let body = |json: &'static str| JsonBody(json.into());
        assert_eq!(reasoned(&body(r#"{"reason": " too many \u0020"}"#)).unwrap().reason, "too many");
        for wrong in [r#"{"reason": " "}"#, "{}", r#"{"reason": "a", "actor": "b"}"#, "[]", ""] {
            assert_eq!(
                reasoned(&body(wrong)).err().map(|problem| problem.code()),
                Some("request-invalid"),
                "{wrong}"
            );
        }
    }
}
