//! Rows of the product's own outbox that are parked: what an operator sees of them, and what may be decided.
//! Deliberately absent: sending; the active relay does that.

use axum::Json;
use axum::extract::State;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;
use waybill_domain::export::FieldError;
use waybill_operator::{Proposal, Wanted, list, show};
use waybill_outbox::parked::{Filter, Verb, look_into};

use super::outbox::{SCHEMA, carry_out};
use crate::app::App;
use crate::page::Page;
use crate::principal::Principal;
use crate::problem::{Answer, Kind, Problem};
use crate::request::{JsonBody, Parameters, PathId};

/// Which rows are asked for.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Asked {
    #[param(nullable = false, pattern = r"^[^\u0000]+$")]
    topic: Option<String>,
    #[param(nullable = false, pattern = r"^[^\u0000]+$")]
    code: Option<String>,
    /// Absent: those that nobody has settled.
    #[param(nullable = false, pattern = "^(refused|waiting|sent|discarded)$")]
    state: Option<String>,
    /// The `next` of the page before.
    #[param(nullable = false, pattern = r"^[0-9]{1,18}\.[0-9]{1,18}$")]
    after: Option<String>,
    #[param(nullable = false, minimum = 1, maximum = 1000)]
    limit: Option<i64>,
}

/// Which rows one decision is about.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct About {
    #[param(nullable = false, pattern = r"^[^\u0000]+$")]
    topic: Option<String>,
    #[param(nullable = false, pattern = r"^[^\u0000]+$")]
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
    let [topic, code] = given(asked.topic.as_deref(), asked.code.as_deref())?;
    let wanted = Wanted {
        filter: Filter { topic, code },
        state: asked.state.as_deref(),
        after: page.after.as_deref(),
        limit: page.limit()?,
    };
    let mut db = app.export().await?;
    let tx = db.transaction().await?;
    look_into(&*tx, SCHEMA).await?;
    Ok(Json(list(&*tx, &wanted).await?))
}

/// What is given is something.
fn given<'a>(topic: Option<&'a str>, code: Option<&'a str>) -> Answer<[Option<&'a str>; 2]> {
    for (name, text) in [("topic", topic), ("code", code)] {
        if text == Some("") {
            return Err(Problem::field(name, "must not be empty; leave it out where any will do"));
        }
    }
    Ok([topic, code])
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
        let [topic, code] = given(self.topic.as_deref(), self.code.as_deref())?;
        if topic.is_none() && code.is_none() {
            // Each may be absent, and no schema of a query says that not both may.
            let problem = "must be given, or code, so that not everything is meant".to_owned();
            let error = FieldError { field: "topic".to_owned(), problem };
            return Err(Problem::listing(&Kind::REQUEST_UNFIT, &[error]));
        }
        Ok(Proposal::matching(verb, topic, code)?)
    }
}
