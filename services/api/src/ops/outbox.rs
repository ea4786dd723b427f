//! How the product's own outbox stands, and what is decided about it: its topics here, its parked rows beside this.

use axum::Json;
use axum::extract::State;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::Value;
use tokio_postgres::IsolationLevel;
use utoipa::IntoParams;
use waybill_operator::{Proposal, status};
use waybill_outbox::parked::look_into;

use super::decision::{Decided, decide};
use crate::app::App;
use crate::principal::Principal;
use crate::problem::Answer;
use crate::request::{JsonBody, Parameters};

/// What the product's own outbox is called among others.
const NAME: &str = "main";

/// The schema of the product's own outbox.
pub(super) const SCHEMA: &str = "outbox";

/// `GET /v1/ops/outbox`.
pub(crate) async fn show_outbox(State(app): State<App>, principal: Principal) -> Answer<Response> {
    principal.operator()?;
    let mut db = app.export().await?;
    let builder = db.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true);
    let tx = builder.start().await?;
    look_into(&*tx, SCHEMA).await?;
    Ok(([(CACHE_CONTROL, "no-store")], Json(status(&*tx, NAME).await?)).into_response())
}

/// Which topic, and as what.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Accepted {
    #[serde(default)]
    #[param(required, pattern = r"^[^\u0000]+$")]
    topic: String,
    #[serde(default)]
    #[param(required, pattern = r"^[^\u0000]+$")]
    topic_id: String,
}

/// `POST /v1/ops/outbox/accept-topic?topic=&topic_id=`: the topic of that name is another one now, and may be sent to.
pub(crate) async fn accept_topic(
    State(app): State<App>,
    principal: Principal,
    Parameters(Accepted { topic, topic_id }): Parameters<Accepted>,
    body: JsonBody,
) -> Answer<Json<Value>> {
    carry_out(&app, &principal, &body, || Proposal::topic(&topic, &topic_id).map_err(Into::into)).await
}

/// Carries out what is proposed about the product's own outbox. Who may not decide is not told what is wrong with it.
pub(super) async fn carry_out<'a>(
    app: &App,
    principal: &Principal,
    body: &JsonBody,
    proposal: impl FnOnce() -> Answer<Proposal<'a>>,
) -> Answer<Json<Value>> {
    principal.operator()?;
    let proposal = proposal()?;
    let (by, subject) = (principal.service_account_id.as_str(), proposal.subject());
    decide(app, principal, body, async |tx, reason| {
        look_into(&**tx, SCHEMA).await?;
        let outcome = waybill_operator::carry_out(&**tx, &proposal, by, reason).await?;
        Ok(Decided { action: proposal.action(), subject: &subject, outcome })
    })
    .await
}
