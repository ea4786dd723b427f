//! What a person decides about a quarantined export.

use axum::Json;
use axum::extract::State;
use serde_json::Value;
use waybill_contract::CommandReason;
use waybill_domain::ids::ExportId;
use waybill_domain::job::{self as lifecycle, Command, Decision};
use waybill_operator::Outcome;
use waybill_store::job::{self, Failure, Job, JobView};

use super::decision::{Decided, decide};
use crate::app::App;
use crate::codes;
use crate::exports::{not_found, parse_id, refused, representation};
use crate::principal::Principal;
use crate::problem::Answer;
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
    decide(app, principal, body, async |tx, reason| {
        let export_id = parse_id(id)?;
        let before = job::lock(&**tx, &export_id).await?.ok_or_else(|| not_found(id))?;
        let now = job::now(&**tx).await?;
        let decision = lifecycle::decide(&before.lifecycle, verb.command, now)
            .map_err(|rejection| refused(&rejection, &before))?;
        let after = store(tx, &export_id, &before, &decision, reason).await?;
        match decision.fact {
            Some(kind) => drop(app.publisher().fact(&**tx, &after, None, kind, now).await?),
            None => {
                let reason = CommandReason::Released;
                app.publisher().command(&**tx, &export_id, &after.tenant_id, reason, now).await?;
            }
        }
        let [before, after] =
            [before, after].map(|job| representation(&JobView { job, progress: None, result: None }));
        Ok(Decided { action: verb.action, subject: id, outcome: Outcome { before, after } })
    })
    .await
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
