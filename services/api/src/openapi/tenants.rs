//! What an operator's key opens about tenants and who calls for them.

use utoipa::openapi::path::HttpMethod;
use utoipa::openapi::path::HttpMethod::{Get, Patch, Post};

use super::decided::{LimitsDecision, Reasoned, RotationDecision};
use super::operation::Operation;
use super::shapes::{ApiKey, ApiKeys, ServiceAccount, Tenant, Tenants};
use crate::ops::{KeysWanted, NewKey, NewServiceAccount, NewTenant};

fn operate(method: HttpMethod, path: &'static str, id: &str, summary: &str) -> Operation {
    Operation::new(method, path, id, "ops", summary)
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        operate(Post, "/v1/ops/tenants", "createTenant", "Make a tenant")
            .body::<NewTenant>()
            .answers::<Tenant>("201", "Made.")
            .problem("409", "The name is taken."),
        operate(Get, "/v1/ops/tenants", "listTenants", "The tenants")
            .page("^ten_[0-9a-f]{32}$")
            .answers::<Tenants>("200", "A page."),
        operate(Patch, "/v1/ops/tenants/{tenant_id}", "limitTenant", "Change what a tenant may have")
            .body::<LimitsDecision>()
            .answers::<Tenant>("200", "The tenant."),
        operate(
            Post,
            "/v1/ops/tenants/{tenant_id}/suspend",
            "suspendTenant",
            "Let a tenant's keys stop working",
        )
        .body::<Reasoned>()
        .answers::<Tenant>("200", "The tenant."),
        operate(Post, "/v1/ops/tenants/{tenant_id}/resume", "resumeTenant", "Take a suspension back")
            .body::<Reasoned>()
            .answers::<Tenant>("200", "The tenant."),
        operate(
            Post,
            "/v1/ops/service-accounts",
            "createServiceAccount",
            "Make a caller of a tenant, or an operator",
        )
        .body::<NewServiceAccount>()
        .answers::<ServiceAccount>("201", "Made.")
        .problem("404", "There is no such tenant.")
        .problem("409", "The name is taken."),
        operate(Post, "/v1/ops/api-keys", "createApiKey", "Make a key")
            .body::<NewKey>()
            .answers::<ApiKey>("201", "Made, with the key, which is shown this once.")
            .problem("404", "There is no such service account.")
            .problem("422", "The scopes are not of the account's kind."),
        operate(Get, "/v1/ops/api-keys", "listApiKeys", "The keys, without anything secret")
            .query::<KeysWanted>()
            .answers::<ApiKeys>("200", "A page.")
            .problem("404", "There is no such service account."),
        operate(
            Post,
            "/v1/ops/api-keys/{api_key_id}/rotate",
            "rotateApiKey",
            "Make a key that follows this one",
        )
        .body::<RotationDecision>()
        .answers::<ApiKey>("200", "The new key, which is shown this once.")
        .problem("409", "The key no longer works."),
        operate(Post, "/v1/ops/api-keys/{api_key_id}/revoke", "revokeApiKey", "Let a key stop working")
            .body::<Reasoned>()
            .answers::<ApiKey>("200", "The key."),
    ]
}
