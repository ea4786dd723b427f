//! `POST /v1/exports/{id}/cancel` and `DELETE /v1/exports/{id}`: what an export's owner decides about it.
//!
//! One transaction under the row's lock, so of a cancel and a completion that race exactly one is first, and the other one
//! reads that. The same request again finds what it wants already so, and is answered with the export as it is: that is
//! also how a COMMIT whose answer was lost is read back. Deliberately absent: waiting for the worker, whose next heartbeat
//! tells it.

use axum::Json;
use axum::extract::State;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use deadpool_postgres::Transaction;
use serde::Deserialize;
use utoipa::IntoParams;
use waybill_domain::attempt::AttemptState;
use waybill_domain::candidate::Cause as Unneeded;
use waybill_domain::ids::{ExportId, TenantId};
use waybill_domain::job::{Command, Decision, JobState, Rejection, decide};
use waybill_operator::Outcome;
use waybill_runtime::chain;
use waybill_store::api_key::Scope;
use waybill_store::attempt::{self, Cause};
use waybill_store::candidate::{self, Candidate};
use waybill_store::decision::{self, NewDecision};
use waybill_store::job::{self, Job, JobView};

use super::failure::{Failure, TRANSACTION_TRIES_MAX, committed};
use super::{not_found, parse_id, representation};
use crate::app::App;
use crate::codes;
use crate::lent::Lent;
use crate::principal::Principal;
use crate::problem::{Answer, Kind, Problem};
use crate::request::{Parameters, PathId};

/// What may be said with a decision.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Said {
    /// Why, for the record.
    #[param(
        nullable = false,
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$",
        max_length = 1_000
    )]
    reason: Option<String>,
    /// Everything is done but kept: the answer, also a refusal, is that of the decision itself.
    #[serde(default)]
    dry_run: bool,
}

/// A decision of the owner.
#[derive(Clone, Copy)]
struct Verb {
    command: Command,
    action: &'static str,
    /// The state that is wanted. An export that is in it already is answered as it is.
    wanted: JobState,
}

/// Calls an export off. It wins at once, in the row: whatever its worker still does counts for nothing.
pub(crate) async fn cancel(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId,
    Parameters(said): Parameters<Said>,
) -> Answer<Response> {
    let verb = Verb { command: Command::Cancel, action: "export.cancel", wanted: JobState::Cancelled };
    carry_out(&app, &principal, &id, &said, verb).await
}

/// Deletes an export that has its outcome. The row stays; the file goes to the collector.
pub(crate) async fn delete(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId,
    Parameters(said): Parameters<Said>,
) -> Answer<Response> {
    let verb = Verb { command: Command::Delete, action: "export.delete", wanted: JobState::Deleted };
    carry_out(&app, &principal, &id, &said, verb).await
}

async fn carry_out(app: &App, principal: &Principal, id: &str, said: &Said, verb: Verb) -> Answer<Response> {
    let tenant_id = principal.tenant(Scope::ExportsWrite)?;
    let export_id = parse_id(id)?;
    let reason = said.reason.as_deref().map(waybill_operator::reason).transpose()?;
    let record = reason.as_deref().map(|reason| NewDecision {
        principal: principal.service_account_id.as_str(),
        action: verb.action,
        subject: export_id.as_str(),
        reason,
    });
    let wanted = Wanted { tenant_id, export_id: &export_id, verb, record, dry_run: said.dry_run };
    let mut tries = 1;
    loop {
        let mut db = app.export().await?;
        match transact(app, &mut db, &wanted).await {
            Ok(outcome) if wanted.dry_run => return Ok(answer(outcome.answer(true))),
            Ok(kept) => {
                if kept.before != kept.after {
                    tracing::info!(%export_id, action = verb.action, state = %kept.after["state"], "decided by its owner");
                }
                // Only a hint: the relay polls as well.
                if let Err(error) = waybill_outbox::wake(&db).await {
                    tracing::debug!(error = %chain(&error), "could not wake the relay");
                }
                let view = job::find(&**db, tenant_id, &export_id).await?;
                return Ok(answer(representation(&view.ok_or_else(|| not_found(id))?)));
            }
            Err(failure) if failure.may_be_begun_again() && tries < TRANSACTION_TRIES_MAX => {
                tracing::warn!(%export_id, error = %chain(&failure), "deciding anew about an export");
                tries += 1;
            }
            Err(failure) => return Err(failure.into()),
        }
    }
}

/// What is wanted of which export.
struct Wanted<'a> {
    tenant_id: &'a TenantId,
    export_id: &'a ExportId,
    verb: Verb,
    record: Option<NewDecision<'a>>,
    dry_run: bool,
}

/// One try, kept or, in a dry run, not.
async fn transact(app: &App, db: &mut Lent, wanted: &Wanted<'_>) -> Result<Outcome, Failure> {
    let tx = db.transaction().await?;
    let outcome = moved(app, &tx, wanted).await?;
    if wanted.dry_run {
        tx.rollback().await?;
    } else {
        committed(tx.commit().await)?;
    }
    Ok(outcome)
}

fn answer(body: serde_json::Value) -> Response {
    ([(CACHE_CONTROL, "no-store")], Json(body)).into_response()
}

/// Decides under the row's lock and writes all that follows; nothing where the export is already as it is wanted.
async fn moved(app: &App, tx: &Transaction<'_>, wanted: &Wanted<'_>) -> Result<Outcome, Failure> {
    let Wanted { tenant_id, export_id, verb, record, dry_run: _ } = *wanted;
    let before = job::lock(&**tx, export_id).await?.filter(|job| job.tenant_id == *tenant_id);
    let before = before.ok_or_else(|| not_found(export_id.as_str()))?;
    if before.lifecycle.state == verb.wanted {
        return Ok(outcome(before.clone(), before));
    }
    let now = job::now(&**tx).await?;
    let decision =
        decide(&before.lifecycle, verb.command, now).map_err(|rejection| refused(&rejection, &before))?;
    let stored = job::store_decision(&**tx, export_id, &before.lifecycle, &decision, None).await?;
    // The row is locked, so it is what was decided upon.
    let after = stored.ok_or_else(|| not_found(export_id.as_str()))?;
    let result = match &after.result_candidate_id {
        Some(candidate_id) => candidate::find(&**tx, candidate_id).await?,
        None => None,
    };
    end_work(tx, &after, &decision, result.as_ref()).await?;
    if let Some(kind) = decision.fact {
        app.publisher().fact(&**tx, &after, result.as_ref(), kind, now).await?;
    }
    if let Some(record) = record {
        decision::insert(&**tx, record).await?;
    }
    Ok(outcome(before, after))
}

/// Ends the attempt under way, and gives a file that nobody may read any longer to the collector.
async fn end_work(
    tx: &Transaction<'_>,
    after: &Job,
    decision: &Decision,
    result: Option<&Candidate>,
) -> Result<(), Failure> {
    if let Some((fence, state)) = decision.ended_attempt {
        debug_assert_eq!(state, AttemptState::Lost, "only its worker can say more");
        let cause = Cause { code: codes::EXPORT_CANCELLED, detail: "its export was cancelled" };
        attempt::end(&**tx, &after.export_id, fence, state, Some(cause)).await?;
    }
    if let (JobState::Deleted, Some(result)) = (after.lifecycle.state, result) {
        // It may be condemned already: an expired export is deleted, too.
        candidate::condemn(&**tx, &result.candidate_id, Unneeded::ExportDeleted).await?;
    }
    Ok(())
}

fn outcome(before: Job, after: Job) -> Outcome {
    let [before, after] =
        [before, after].map(|job| representation(&JobView { job, progress: None, result: None }));
    Outcome { before, after }
}

/// What a command is answered with that the export's state does not allow.
pub(crate) fn refused(rejection: &Rejection, job: &Job) -> Problem {
    let state = job.lifecycle.state;
    let first = match state {
        JobState::Pending | JobState::Running => "; cancel it first",
        JobState::Quarantined => "; it waits for an operator",
        JobState::Succeeded
        | JobState::Failed
        | JobState::Cancelled
        | JobState::Expired
        | JobState::Deleted => "",
    };
    Problem::new(&Kind::TRANSITION_NOT_ALLOWED, format!("{rejection}{first}."))
        .with("state", state.as_str().into())
}
