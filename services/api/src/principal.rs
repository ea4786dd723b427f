//! Who calls. Read from the key's row on each request, so that a revocation or a suspension counts with the next one.

use axum::extract::FromRequestParts;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use waybill_domain::ids::{ApiKeyId, ServiceAccountId, TenantId};
use waybill_store::api_key::{self, Credential, Scope};

use crate::app::App;
use crate::bearer::Bearer;
use crate::problem::{Answer, Kind, Problem};

/// A caller that has proved who it is.
#[derive(Debug, Clone)]
pub(crate) struct Principal {
    /// Who calls: owner of intents, actor of decisions.
    pub(crate) service_account_id: ServiceAccountId,
    api_key_id: ApiKeyId,
    tenant_id: Option<TenantId>,
    scopes: Vec<Scope>,
}

impl Principal {
    /// The caller's tenant, when its key has this scope.
    pub(crate) fn tenant(&self, scope: Scope) -> Answer<&TenantId> {
        self.require(scope)?;
        self.tenant_id.as_ref().ok_or_else(|| {
            Problem::new(&Kind::TENANT_REQUIRED, "This key belongs to an operator, who owns no exports.")
        })
    }

    /// Lets whoever was let in stay, if its key would still let it in.
    pub(crate) async fn again(&self, app: &App) -> Answer<()> {
        let credential = api_key::find_credential(&**app.export().await?, &self.api_key_id).await?;
        permitted(credential.ok_or_else(invalid)?).map(drop)
    }

    /// Lets only an operator pass.
    pub(crate) fn operator(&self) -> Answer<()> {
        self.require(Scope::Ops)
    }

    fn require(&self, scope: Scope) -> Answer<()> {
        if self.scopes.contains(&scope) {
            return Ok(());
        }
        let held: Vec<&str> = self.scopes.iter().map(|scope| scope.as_str()).collect();
        Err(Problem::new(
            &Kind::SCOPE_MISSING,
            format!("This needs the scope {}; the key has {}.", scope.as_str(), held.join(", ")),
        ))
    }
}

impl FromRequestParts<App> for Principal {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Answer<Self> {
        let bearer = presented(parts)?;
        let credential = {
            let db = app.export().await?;
            api_key::find_credential(&**db, &bearer.api_key_id).await?
        };
        let principal = judge(&bearer, credential)?;
        tracing::Span::current().record("service_account_id", principal.service_account_id.as_str());
        Ok(principal)
    }
}

fn presented(parts: &Parts) -> Answer<Bearer> {
    let mut values = parts.headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return Err(Problem::new(
            &Kind::AUTHENTICATION_REQUIRED,
            "The request has no header Authorization, or several.",
        ));
    };
    let token = value.to_str().ok().and_then(|text| text.split_once(' '));
    match token {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => {
            Bearer::parse(token.trim()).ok_or_else(invalid)
        }
        _ => Err(Problem::new(
            &Kind::AUTHENTICATION_REQUIRED,
            "The header Authorization is not of the form `Bearer wbk_…`.",
        )),
    }
}

/// What a stranger learns is the same for an unknown key and for a wrong secret; only who has the secret learns why
/// it no longer works.
fn judge(bearer: &Bearer, credential: Option<Credential>) -> Answer<Principal> {
    let credential = credential.filter(|credential| bearer.matches(&credential.secret_sha256));
    permitted(credential.ok_or_else(invalid)?)
}

/// Whoever has proved to have a key, if that still works.
fn permitted(credential: Credential) -> Answer<Principal> {
    if credential.revoked {
        return Err(Problem::new(&Kind::API_KEY_REVOKED, format!("{} was revoked.", credential.api_key_id)));
    }
    if credential.expired {
        return Err(Problem::new(&Kind::API_KEY_EXPIRED, format!("{} has expired.", credential.api_key_id)));
    }
    if credential.suspended {
        return Err(Problem::new(&Kind::TENANT_SUSPENDED, "The tenant of this key is suspended."));
    }
    Ok(Principal {
        api_key_id: credential.api_key_id,
        service_account_id: credential.service_account_id,
        tenant_id: credential.tenant_id,
        scopes: credential.scopes,
    })
}

fn invalid() -> Problem {
    Problem::new(&Kind::API_KEY_INVALID, "No key of this deployment is like the one that was sent.")
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;
    use waybill_domain::ids::ServiceAccountId;

    use super::*;

    fn stored(bearer: &Bearer) -> Credential {
        Credential {
            api_key_id: bearer.api_key_id.clone(),
            secret_sha256: bearer.secret_sha256().to_vec(),
            scopes: vec![Scope::ExportsRead],
            revoked: false,
            expired: false,
            service_account_id: ServiceAccountId::from_uuid(Uuid::from_u128(1)),
            tenant_id: Some(TenantId::from_uuid(Uuid::from_u128(2))),
            suspended: false,
        }
    }

    fn refusal(bearer: &Bearer, credential: Option<Credential>) -> (u16, &'static str) {
        let problem = judge(bearer, credential).unwrap_err();
        (problem.status().as_u16(), problem.code())
    }

    #[test]
    fn an_unknown_key_and_a_wrong_secret_are_refused_alike() {
        let bearer = Bearer::generate();
        let wrong = Credential { secret_sha256: vec![0; 32], revoked: true, ..stored(&bearer) };
        assert_eq!(refusal(&bearer, None), (401, "api-key-invalid"));
        assert_eq!(refusal(&bearer, Some(wrong)), (401, "api-key-invalid"));
    }

    #[test]
    fn a_key_that_no_longer_works_says_why_to_who_has_its_secret() {
        let bearer = Bearer::generate();
        let revoked = Credential { revoked: true, ..stored(&bearer) };
        let expired = Credential { expired: true, ..stored(&bearer) };
        let suspended = Credential { suspended: true, ..stored(&bearer) };
        assert_eq!(refusal(&bearer, Some(revoked)), (401, "api-key-revoked"));
        assert_eq!(refusal(&bearer, Some(expired)), (401, "api-key-expired"));
        assert_eq!(refusal(&bearer, Some(suspended)), (403, "tenant-suspended"));
    }

    #[test]
    fn a_scope_is_needed_and_an_operator_has_no_tenant() {
        let bearer = Bearer::generate();
        let reader = judge(&bearer, Some(stored(&bearer))).unwrap();
        assert!(reader.tenant(Scope::ExportsRead).is_ok());
        assert_eq!(reader.tenant(Scope::ExportsWrite).unwrap_err().code(), "scope-missing");
        assert_eq!(reader.operator().unwrap_err().code(), "scope-missing");
        let operator = Credential { tenant_id: None, ..stored(&bearer) };
        let operator = judge(&bearer, Some(operator)).unwrap();
        assert_eq!(operator.tenant(Scope::ExportsRead).unwrap_err().code(), "tenant-required");
    }
}
