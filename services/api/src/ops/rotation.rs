//! Keys of service accounts, listed and rotated.
//!
//! A rotation is one transaction: the successor is there and its predecessor's end is set, or nothing is. Both work until the
//! overlap is over, so whoever uses the key is changed over without a gap. Deliberately absent: showing a key twice. Whoever
//! lost the answer finds the successor in the list, revokes it, and rotates once more.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_postgres::Transaction;
use utoipa::IntoParams;
use waybill_domain::ids::ApiKeyId;
use waybill_operator::Outcome;
use waybill_store::api_key::{self, ApiKey, NewApiKey};

use super::api_keys::{find_account, not_found, parse_id, shown_key};
use super::decision::{Decided, Said, decide_on};
use crate::app::App;
use crate::bearer::Bearer;
use crate::page::{self, Page};
use crate::principal::Principal;
use crate::problem::{Answer, Kind, Problem};
use crate::request::{JsonBody, Parameters, PathId};

/// How long a key goes on beside its successor when nobody says otherwise: a day.
const OVERLAP_SECONDS_DEFAULT: i64 = 86_400;
/// The longest that it may: 90 days.
pub(crate) const OVERLAP_SECONDS_MAX: i64 = 7_776_000;

/// Which keys are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    #[param(nullable = false, pattern = "^sva_[0-9a-f]{32}$")]
    service_account_id: Option<String>,
    #[param(nullable = false, pattern = "^key_[0-9a-f]{32}$")]
    after: Option<String>,
    #[param(nullable = false, minimum = 1, maximum = 1000)]
    limit: Option<i64>,
}

/// How a key is to be rotated.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rotation {
    overlap_seconds: Option<i64>,
}

/// `GET /v1/ops/api-keys`: keys in the order of their making, also those that no longer work.
pub(crate) async fn list_api_keys(
    State(app): State<App>,
    principal: Principal,
    Parameters(wanted): Parameters<Wanted>,
) -> Answer<Json<Value>> {
    principal.operator()?;
    let page = Page::new(wanted.after, wanted.limit);
    let limit = page.limit()?;
    let after = page::id("after", page.after.as_deref(), ApiKeyId::parse)?;
    let of = match wanted.service_account_id.as_deref() {
        Some(text) => Some(find_account(&app, text).await?.service_account_id),
        None => None,
    };
    let keys = api_key::list(&**app.export().await?, of.as_ref(), after.as_ref(), limit).await?;
    let next = Page::next(&keys, limit, |key| key.api_key_id.to_string());
    let keys: Vec<Value> = keys.iter().map(shown_key).collect();
    Ok(Json(json!({ "api_keys": keys, "next": next })))
}

/// `POST /v1/ops/api-keys/{api_key_id}/rotate`. The only answer that ever holds the new key.
pub(crate) async fn rotate_api_key(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId,
    body: JsonBody,
) -> Answer<Json<Value>> {
    let by = principal.service_account_id.to_string();
    decide_on(&app, &principal, &body, async |tx, said: &Said<Rotation>| {
        let overlap_seconds = overlap(said.rest.overlap_seconds)?;
        let before = usable(tx, &id).await?;
        let bearer = Bearer::generate();
        let key = NewApiKey {
            api_key_id: &bearer.api_key_id,
            service_account_id: &before.service_account_id,
            secret_sha256: &bearer.secret_sha256(),
            scopes: &before.scopes,
            created_by: &by,
            valid_seconds: before.valid_seconds,
            rotated_from: Some(&before.api_key_id),
        };
        let made = api_key::insert(&**tx, &key).await?;
        let retired = api_key::retire(&**tx, &before.api_key_id, overlap_seconds).await?;
        let mut after = shown_key(&made);
        after["predecessor"] = shown_key(&retired.ok_or_else(|| not_found(&id))?);
        if !said.dry_run {
            after["api_key"] = bearer.expose().into();
        }
        let outcome = Outcome { before: json!({ "predecessor": shown_key(&before) }), after };
        Ok(Decided { action: "api-key.rotate", subject: &id, outcome })
    })
    .await
}

fn overlap(seconds: Option<i64>) -> Answer<i64> {
    let seconds = seconds.unwrap_or(OVERLAP_SECONDS_DEFAULT);
    if (0..=OVERLAP_SECONDS_MAX).contains(&seconds) {
        return Ok(seconds);
    }
    Err(Problem::field("overlap_seconds", format!("must be between 0 and {OVERLAP_SECONDS_MAX}")))
}

/// The key, which still works: what no longer does has nothing to hand on.
async fn usable(tx: &Transaction<'_>, id: &str) -> Answer<ApiKey> {
    let api_key_id = parse_id(id)?;
    if let Some(key) = api_key::lock_usable(tx, &api_key_id).await? {
        return Ok(key);
    }
    api_key::find(tx, &api_key_id).await?.ok_or_else(|| not_found(id))?;
    Err(Problem::new(&Kind::API_KEY_ENDED, format!("{api_key_id} was revoked or has expired.")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overlap_has_a_default_and_a_bound_and_may_be_none() {
        assert_eq!(overlap(None).unwrap(), OVERLAP_SECONDS_DEFAULT);
        assert_eq!(overlap(Some(0)).unwrap(), 0);
        for wrong in [-1, OVERLAP_SECONDS_MAX + 1] {
            assert_eq!(overlap(Some(wrong)).unwrap_err().code(), "request-invalid");
        }
    }
}
