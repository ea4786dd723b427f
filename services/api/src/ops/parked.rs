//! Rows of the product's own outbox that are parked: what an operator sees of them, and what may be decided.
//! Deliberately absent: sending; the active relay does that.

use axum::Json;
use axum::extract::State;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::Value;
use waybill_operator::{Proposal, Wanted, list, show};
use waybill_outbox::parked::{Filter, Verb, look_into};

use super::outbox::{SCHEMA, carry_out};
use crate::app::App;
use crate::page::Page;
use crate::principal::Principal;
use crate::problem::Answer;
use crate::request::{JsonBody, Parameters, PathId};

/// Which rows are asked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    topic: Option<String>,
    code: Option<String>,
    /// Absent: those that nobody has settled.
    state: Option<String>,
    after: Option<String>,
    limit: Option<i64>,
}

/// Which rows one decision is about.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct About {
    topic: Option<String>,
    code: Option<String>,
}

/// `GET /v1/ops/parked`.
pub(crate) async fn list_parked(
    State(app): State<App>,
    principal: Principal,
    Parameters(asked): Parameters<Asked>,
) -> Answer<Json<Value>> {
    principal.operator()?;
    let page = Page::new(asked.after, asked.limit);
    let wanted = Wanted {
        filter: Filter { topic: asked.topic.as_deref(), code: asked.code.as_deref() },
        state: asked.state.as_deref(),
        after: page.after.as_deref(),
        limit: page.limit()?,
    };
    let mut db = app.export().await?;
    let tx = db.transaction().await?;
    look_into(&*tx, SCHEMA).await?;
    Ok(Json(list(&*tx, &wanted).await?))
}

/// `GET /v1/ops/parked/{seq}`.
pub(crate) async fn show_parked(
    State(app): State<App>,
    principal: Principal,
    PathId(seq): PathId,
) -> Answer<Response> {
    principal.operator()?;
    let mut db = app.export().await?;
    let tx = db.transaction().await?;
    look_into(&*tx, SCHEMA).await?;
    Ok(([(CACHE_CONTROL, "no-store")], Json(show(&*tx, &seq).await?)).into_response())
}

/// `POST /v1/ops/parked/{seq}/retry`: its cause is gone, it is sent in order.
pub(crate) async fn retry_parked(
    State(app): State<App>,
    principal: Principal,
    PathId(seq): PathId,
    body: JsonBody,
) -> Answer<Json<Value>> {
    carry_out(&app, &principal, &body, || Ok(Proposal::row(Verb::Retry, &seq)?)).await
}

/// `POST /v1/ops/parked/{seq}/discard`: it is never sent, and what waits behind it goes on.
pub(crate) async fn discard_parked(
    State(app): State<App>,
    principal: Principal,
    PathId(seq): PathId,
    body: JsonBody,
) -> Answer<Json<Value>> {
    carry_out(&app, &principal, &body, || Ok(Proposal::row(Verb::Discard, &seq)?)).await
}

/// `POST /v1/ops/parked/retry?topic=&code=`.
pub(crate) async fn retry_all_parked(
    State(app): State<App>,
    principal: Principal,
    Parameters(about): Parameters<About>,
    body: JsonBody,
) -> Answer<Json<Value>> {
    carry_out(&app, &principal, &body, || about.proposal(Verb::Retry)).await
}

/// `POST /v1/ops/parked/discard?topic=&code=`.
pub(crate) async fn discard_all_parked(
    State(app): State<App>,
    principal: Principal,
    Parameters(about): Parameters<About>,
    body: JsonBody,
) -> Answer<Json<Value>> {
    carry_out(&app, &principal, &body, || about.proposal(Verb::Discard)).await
}

impl About {
    fn proposal(&self, verb: Verb) -> Answer<Proposal<'_>> {
        Ok(Proposal::matching(verb, self.topic.as_deref(), self.code.as_deref())?)
    }
}
