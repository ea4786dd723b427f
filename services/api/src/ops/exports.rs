//! What a person decides about a quarantined export.

use axum::Json;
use axum::extract::State;
use serde_json::Value;
use waybill_contract::CommandReason;
use waybill_domain::ids::ExportId;
use waybill_domain::job::{Command, Decision, Rejection, decide};
use waybill_runtime::chain;
use waybill_store::job::{self, Failure, Job, JobView};

use super::reason::{Decided, conclude, reason};
use crate::app::App;
use crate::codes;
use crate::exports::{not_found, parse_id, representation};
use crate::principal::Principal;
use crate::problem::{Answer, Kind, Problem};
use crate::request::{JsonBody, PathId};

/// `POST /v1/ops/exports/{export_id}/release`: it may try again, from nothing.
pub(crate) async fn release_export(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId,
    body: JsonBody,
) -> Answer<Json<Value>> {
    let verb = Verb { command: Command::Release, action: "export.release" };
    carry_out(&app, &principal, &id, &body, verb).await
}

/// `POST /v1/ops/exports/{export_id}/fail`: it ends without a result.
pub(crate) async fn fail_export(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId,
    body: JsonBody,
) -> Answer<Json<Value>> {
    let verb = Verb { command: Command::GiveUp, action: "export.fail" };
    carry_out(&app, &principal, &id, &body, verb).await
}

struct Verb {
    command: Command,
    action: &'static str,
}

async fn carry_out(
    app: &App,
    principal: &Principal,
    id: &str,
    body: &JsonBody,
    verb: Verb,
) -> Answer<Json<Value>> {
    principal.operator()?;
    let export_id = parse_id(id)?;
    let reasoned = reason(body)?;
    let mut db = app.export().await?;
    let tx = db.transaction().await?;
    let before = job::lock(&*tx, &export_id).await?.ok_or_else(|| not_found(id))?;
    let now = job::now(&*tx).await?;
    let decision =
        decide(&before.lifecycle, verb.command, now).map_err(|rejection| refused(&rejection, &before))?;
    let after = store(&tx, &export_id, &before, &decision, &reasoned.reason).await?;
    match decision.fact {
        Some(kind) => drop(app.publisher().fact(&*tx, &after, None, kind, now).await?),
        None => {
            let reason = CommandReason::Released;
            app.publisher().command(&*tx, &export_id, &after.tenant_id, reason, now).await?;
        }
    }
    let [before, after] =
        [before, after].map(|job| representation(&JobView { job, progress: None, result: None }));
    let decided = Decided { action: verb.action, subject: id, reasoned: &reasoned, before, after };
    let answer = conclude(tx, principal, decided).await?;
    if let Err(error) = waybill_outbox::wake(&**db).await {
        tracing::debug!(error = %chain(&error), "could not wake the relay");
    }
    Ok(answer)
}

async fn store(
    tx: &tokio_postgres::Transaction<'_>,
    export_id: &ExportId,
    job: &Job,
    decision: &Decision,
    reason: &str,
) -> Answer<Job> {
    let failure = decision.fact.map(|_| Failure { code: codes::EXPORT_GIVEN_UP, detail: reason });
    let stored = job::store_decision(tx, export_id, &job.lifecycle, decision, failure).await?;
    // The row is locked, so it is what was decided upon.
    stored.ok_or_else(|| not_found(export_id.as_str()))
}

fn refused(rejection: &Rejection, job: &Job) -> Problem {
    Problem::new(&Kind::TRANSITION_NOT_ALLOWED, format!("{rejection}."))
        .with("state", job.lifecycle.state.as_str().into())
}
