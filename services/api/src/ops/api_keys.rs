//! Service accounts and their keys.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use uuid::Uuid;
use waybill_domain::export::FieldError;
use waybill_domain::ids::{ApiKeyId, ServiceAccountId};
use waybill_operator::Outcome;
use waybill_store::api_key::{self, ApiKey, NewApiKey, Scope};
use waybill_store::service_account::{self, ServiceAccount};
use waybill_store::tenant;

use super::decision::{Decided, decide};
use super::name::name;
use super::tenants;
use crate::app::App;
use crate::bearer::Bearer;
use crate::principal::Principal;
use crate::problem::{Answer, Kind, Problem};
use crate::request::{JsonBody, PathId};

/// A scope as it is written.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its shape is of use")]
enum ScopeName {
    #[schema(rename = "exports:read")]
    ExportsRead,
    #[schema(rename = "exports:write")]
    ExportsWrite,
    #[schema(rename = "ops")]
    Ops,
}

/// The longest time a key with an end may be good for: ten years. The column's CHECK says the same.
pub(super) const VALID_SECONDS_MAX: u32 = 315_360_000;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewServiceAccount {
    /// None: an operator's.
    #[schema(pattern = "^ten_[0-9a-f]{32}$")]
    tenant_id: Option<String>,
    #[schema(
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$",
        max_length = 200
    )]
    name: String,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewKey {
    #[schema(pattern = "^sva_[0-9a-f]{32}$")]
    service_account_id: String,
    /// `exports:read` and `exports:write` of a tenant's account, `ops` of an operator's.
    #[schema(min_items = 1, inline, value_type = Vec<ScopeName>)]
    scopes: Vec<String>,
    /// None: for ever.
    #[schema(minimum = 1, maximum = 315_360_000)]
    valid_seconds: Option<u32>,
}

/// `POST /v1/ops/service-accounts`.
pub(crate) async fn create_service_account(
    State(app): State<App>,
    principal: Principal,
    body: JsonBody,
) -> Answer<(StatusCode, Json<Value>)> {
    principal.operator()?;
    let new: NewServiceAccount = body.parse()?;
    let name = name(&new.name)?;
    let tenant_id = new.tenant_id.as_deref().map(tenants::parse_id).transpose()?;
    let db = app.export().await?;
    if let Some(tenant_id) = &tenant_id {
        tenant::find(&**db, tenant_id).await?.ok_or_else(|| tenants::not_found(tenant_id.as_str()))?;
    }
    let id = ServiceAccountId::from_uuid(Uuid::now_v7());
    let made = service_account::insert(&**db, &id, tenant_id.as_ref(), &name).await?;
    let made = made.ok_or_else(|| {
        Problem::new(&Kind::NAME_TAKEN, format!("There is a service account {name:?} there already."))
    })?;
    tracing::info!(made_service_account_id = %id, "made a service account");
    Ok((StatusCode::CREATED, Json(shown(&made))))
}

/// `POST /v1/ops/api-keys`. The only answer that ever holds the key.
pub(crate) async fn create_api_key(
    State(app): State<App>,
    principal: Principal,
    body: JsonBody,
) -> Answer<(StatusCode, Json<Value>)> {
    principal.operator()?;
    let new: NewKey = body.parse()?;
    let account = find_account(&app, &new.service_account_id).await?;
    let scopes = scopes(&new.scopes, account.tenant_id.is_some())?;
    if new.valid_seconds.is_some_and(|seconds| !(1..=VALID_SECONDS_MAX).contains(&seconds)) {
        return Err(Problem::field("valid_seconds", format!("must be between 1 and {VALID_SECONDS_MAX}")));
    }
    let bearer = Bearer::generate();
    let key = NewApiKey {
        api_key_id: &bearer.api_key_id,
        service_account_id: &account.service_account_id,
        secret_sha256: &bearer.secret_sha256(),
        scopes: &scopes,
        created_by: principal.service_account_id.as_str(),
        valid_seconds: new.valid_seconds.map(i64::from),
        rotated_from: None,
    };
    let made = api_key::insert(&**app.export().await?, &key).await?;
    tracing::info!(api_key_id = %made.api_key_id, "made an API key");
    let mut body = shown_key(&made);
    body["api_key"] = bearer.expose().into();
    Ok((StatusCode::CREATED, Json(body)))
}

/// `POST /v1/ops/api-keys/{api_key_id}/revoke`.
pub(crate) async fn revoke_api_key(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId,
    body: JsonBody,
) -> Answer<Json<Value>> {
    decide(&app, &principal, &body, async |tx, _reason| {
        let api_key_id = parse_id(&id)?;
        let before = api_key::find(&**tx, &api_key_id).await?.ok_or_else(|| not_found(&id))?;
        let revoked = api_key::revoke(&**tx, &api_key_id).await?.ok_or_else(|| not_found(&id))?;
        let outcome = Outcome { before: shown_key(&before), after: shown_key(&revoked) };
        Ok(Decided { action: "api-key.revoke", subject: &id, outcome })
    })
    .await
}

/// Reads a key's id strictly.
pub(super) fn parse_id(text: &str) -> Answer<ApiKeyId> {
    ApiKeyId::parse(text).map_err(|_malformed| not_found(text))
}

/// There is no such key.
pub(super) fn not_found(text: &str) -> Problem {
    Problem::new(&Kind::API_KEY_NOT_FOUND, format!("There is no API key {text:?}."))
}

pub(super) async fn find_account(app: &App, text: &str) -> Answer<ServiceAccount> {
    let not_found =
        || Problem::new(&Kind::SERVICE_ACCOUNT_NOT_FOUND, format!("There is no service account {text:?}."));
    let id = ServiceAccountId::parse(text).map_err(|_malformed| not_found())?;
    service_account::find(&**app.export().await?, &id).await?.ok_or_else(not_found)
}

/// The scopes by their names. A tenant's key operates nothing, and an operator's has no exports.
fn scopes(names: &[String], of_a_tenant: bool) -> Answer<Vec<Scope>> {
    let allowed: &[Scope] =
        if of_a_tenant { &[Scope::ExportsRead, Scope::ExportsWrite] } else { &[Scope::Ops] };
    let words = |scopes: &[Scope]| scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(", ");
    let scopes: Option<Vec<Scope>> = names.iter().map(|name| Scope::parse(name)).collect();
    let mut scopes = scopes
        .filter(|scopes| !scopes.is_empty())
        .ok_or_else(|| Problem::field("scopes", format!("must be one or more of {}", words(&Scope::ALL))))?;
    if !scopes.iter().all(|scope| allowed.contains(scope)) {
        let whose = if of_a_tenant { "a tenant's service account" } else { "an operator's service account" };
        let problem = format!("must be one or more of {} for {whose}", words(allowed));
        let error = FieldError { field: "scopes".to_owned(), problem };
        return Err(Problem::listing(&Kind::REQUEST_UNFIT, &[error]));
    }
    scopes.sort_unstable();
    scopes.dedup();
    Ok(scopes)
}

fn shown(account: &ServiceAccount) -> Value {
    json!({
        "service_account_id": account.service_account_id,
        "tenant_id": account.tenant_id,
        "name": account.name,
        "created_at": account.created_at,
    })
}

/// A key, without anything secret.
pub(super) fn shown_key(key: &ApiKey) -> Value {
    let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.as_str()).collect();
    json!({
        "api_key_id": key.api_key_id,
        "service_account_id": key.service_account_id,
        "scopes": scopes,
        "created_by": key.created_by,
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
        "rotated_from": key.rotated_from,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenants_key_never_operates_and_an_operators_key_has_no_exports() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let both = names(&["exports:write", "exports:read", "exports:write"]);
        assert_eq!(scopes(&both, true).unwrap(), [Scope::ExportsRead, Scope::ExportsWrite]);
        assert_eq!(scopes(&names(&["ops"]), false).unwrap(), [Scope::Ops]);
        assert!(scopes(&names(&["ops"]), true).is_err());
        assert!(scopes(&names(&["exports:read"]), false).is_err());
        assert!(scopes(&names(&["exports:delete"]), true).is_err());
        assert!(scopes(&[], true).is_err());
    }
}
