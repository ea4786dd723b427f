//! The frame of every decision: an operator, a reason, one transaction in which it is carried out and recorded, or only
//! tried out.

use axum::Json;
use deadpool_postgres::Transaction;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use waybill_operator::Outcome;
use waybill_runtime::chain;
use waybill_store::decision::{self, NewDecision};

use crate::app::App;
use crate::principal::Principal;
use crate::problem::{Answer, Problem};
use crate::request::JsonBody;

/// The body of a decision.
#[derive(Debug)]
pub(super) struct Said<T> {
    /// Why, in the person's words.
    pub(super) reason: String,
    /// Everything is done but kept: the answer, also a refusal, is that of the decision itself.
    pub(super) dry_run: bool,
    /// What else is said.
    pub(super) rest: T,
}

/// A decision that says no more than why.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

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
    let carry_out = async |tx: &Transaction<'_>, said: &Said<Nothing>| carry_out(tx, &said.reason).await;
    decide_on(app, principal, body, carry_out).await
}

/// [`decide`] about something of which the body says more: `carry_out` is given all of it.
pub(super) async fn decide_on<'a, T: DeserializeOwned>(
    app: &App,
    principal: &Principal,
    body: &JsonBody,
    carry_out: impl AsyncFnOnce(&Transaction<'_>, &Said<T>) -> Answer<Decided<'a>>,
) -> Answer<Json<Value>> {
    principal.operator()?;
    let said = said(body)?;
    let mut db = app.export().await?;
    let tx = db.transaction().await?;
    let Decided { action, subject, outcome } = carry_out(&tx, &said).await?;
    let Said { reason, dry_run, .. } = said;
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

/// Reads reason and dry run, and all other members as what else may be said.
fn said<T: DeserializeOwned>(body: &JsonBody) -> Answer<Said<T>> {
    let mut members: Map<String, Value> = body.parse()?;
    let reason = members.remove("reason").ok_or_else(|| Problem::field("reason", "must be given"))?;
    let reason: String = member("reason", reason)?;
    let dry_run = members.remove("dry_run").map_or(Ok(false), |value| member("dry_run", value))?;
    Ok(Said { reason: waybill_operator::reason(&reason)?, dry_run, rest: member("", members.into())? })
}

fn member<T: DeserializeOwned>(name: &str, value: Value) -> Answer<T> {
    serde_json::from_value(value)
        .map_err(|error| Problem::field(name, format!("is not as it should be: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_dry_run_that_is_asked_for_is_one() {
        let body = |json: &'static str| JsonBody(json.into());
        assert!(!said::<Nothing>(&body(r#"{"reason": "a"}"#)).unwrap().dry_run);
        assert!(said::<Nothing>(&body(r#"{"reason": "a", "dry_run": true}"#)).unwrap().dry_run);
    }

    #[test]
    fn a_decision_without_a_reason_or_with_an_actor_in_its_body_is_refused() {
        let body = |json: &'static str| JsonBody(json.into());
        assert_eq!(said::<Nothing>(&body(r#"{"reason": " too many \u0020"}"#)).unwrap().reason, "too many");
        for wrong in [r#"{"reason": " "}"#, "{}", r#"{"reason": "a", "actor": "b"}"#, "[]", ""] {
            assert_eq!(
                said::<Nothing>(&body(wrong)).err().map(|problem| problem.code()),
                Some("request-invalid"),
                "{wrong}"
            );
        }
    }
}
