//! Tenants: made, listed, suspended, resumed.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use uuid::Uuid;
use waybill_domain::ids::TenantId;
use waybill_operator::Outcome;
use waybill_store::tenant::{self, Tenant, TenantState};

use super::decision::{Decided, decide};
use super::name::name;
use crate::app::App;
use crate::page::{self, Page};
use crate::principal::Principal;
use crate::problem::{Answer, Kind, Problem};
use crate::request::{JsonBody, Parameters, PathId};

/// How many exports of a tenant run at once when nobody says otherwise.
const RUNNING_LIMIT_DEFAULT: i32 = 2;
/// The most that a tenant may run at once; the column's CHECK says the same.
pub(crate) const RUNNING_LIMIT_MAX: i32 = 1_000;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewTenant {
    #[schema(
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$",
        max_length = 200
    )]
    name: String,
    #[schema(minimum = 1, maximum = 1000)]
    running_limit: Option<i32>,
}

/// `POST /v1/ops/tenants`.
pub(crate) async fn create_tenant(
    State(app): State<App>,
    principal: Principal,
    body: JsonBody,
) -> Answer<(StatusCode, Json<Value>)> {
    principal.operator()?;
    let new: NewTenant = body.parse()?;
    let name = name(&new.name)?;
    let running_limit = new.running_limit.unwrap_or(RUNNING_LIMIT_DEFAULT);
    if !(1..=RUNNING_LIMIT_MAX).contains(&running_limit) {
        return Err(Problem::field("running_limit", format!("must be between 1 and {RUNNING_LIMIT_MAX}")));
    }
    let tenant_id = TenantId::from_uuid(Uuid::now_v7());
    let tenant = tenant::insert(&**app.export().await?, &tenant_id, &name, running_limit).await?;
    let tenant = tenant
        .ok_or_else(|| Problem::new(&Kind::NAME_TAKEN, format!("There is a tenant {name:?} already.")))?;
    tracing::info!(%tenant_id, "made a tenant");
    Ok((StatusCode::CREATED, Json(shown(&tenant))))
}

/// `GET /v1/ops/tenants`.
pub(crate) async fn list_tenants(
    State(app): State<App>,
    principal: Principal,
    Parameters(page): Parameters<Page>,
) -> Answer<Json<Value>> {
    principal.operator()?;
    let limit = page.limit()?;
    let after = page::id("after", page.after.as_deref(), TenantId::parse)?;
    let tenants = tenant::list(&**app.export().await?, after.as_ref(), limit).await?;
    let next = Page::next(&tenants, limit, |tenant| tenant.tenant_id.to_string());
    let tenants: Vec<Value> = tenants.iter().map(shown).collect();
    Ok(Json(json!({ "tenants": tenants, "next": next })))
}

/// `POST /v1/ops/tenants/{tenant_id}/suspend`.
pub(crate) async fn suspend_tenant(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId,
    body: JsonBody,
) -> Answer<Json<Value>> {
    turn(&app, &principal, &id, &body, TenantState::Suspended).await
}

/// `POST /v1/ops/tenants/{tenant_id}/resume`: takes a suspension back.
pub(crate) async fn resume_tenant(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId,
    body: JsonBody,
) -> Answer<Json<Value>> {
    turn(&app, &principal, &id, &body, TenantState::Active).await
}

async fn turn(
    app: &App,
    principal: &Principal,
    id: &str,
    body: &JsonBody,
    state: TenantState,
) -> Answer<Json<Value>> {
    decide(app, principal, body, async |tx, _reason| {
        let tenant_id = parse_id(id)?;
        let before = tenant::find(&**tx, &tenant_id).await?.ok_or_else(|| not_found(id))?;
        let (after, action) = match state {
            TenantState::Suspended => (tenant::suspend(&**tx, &tenant_id).await?, "tenant.suspend"),
            TenantState::Active => (tenant::resume(&**tx, &tenant_id).await?, "tenant.resume"),
        };
        let after = after.ok_or_else(|| not_found(id))?;
        let outcome = Outcome { before: shown(&before), after: shown(&after) };
        Ok(Decided { action, subject: id, outcome })
    })
    .await
}

/// Reads a tenant's id strictly.
pub(super) fn parse_id(text: &str) -> Answer<TenantId> {
    TenantId::parse(text).map_err(|_malformed| not_found(text))
}

/// There is no such tenant.
pub(crate) fn not_found(text: &str) -> Problem {
    Problem::new(&Kind::TENANT_NOT_FOUND, format!("There is no tenant {text:?}."))
}

pub(super) fn shown(tenant: &Tenant) -> Value {
    json!({
        "tenant_id": tenant.tenant_id,
        "name": tenant.name,
        "state": tenant.state.as_str(),
        "running_limit": tenant.limits.running,
        "waiting_limit": tenant.limits.waiting,
        "rows_a_day_limit": tenant.limits.rows_a_day,
        "bytes_kept_limit": tenant.limits.bytes_kept,
        "created_at": tenant.created_at,
    })
}
