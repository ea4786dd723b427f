//! `PATCH /v1/ops/tenants/{tenant_id}`: what a tenant may have. It counts with the next export that is asked for, or claimed.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use waybill_operator::Outcome;
use waybill_store::tenant::{self, Limits};

use super::decision::{Decided, Said, decide_on};
use super::tenants::{RUNNING_LIMIT_MAX, not_found, parse_id, shown};
use crate::app::App;
use crate::principal::Principal;
use crate::problem::{Answer, Problem};
use crate::request::{JsonBody, PathId};

/// The most exports that a tenant may have waiting; the column's CHECK says the same.
pub(crate) const WAITING_LIMIT_MAX: i32 = 1_000_000;

/// The limits that change; what is absent stays, and `null` lifts one that there need not be.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Changes {
    running_limit: Option<i32>,
    waiting_limit: Option<i32>,
    #[serde(default, deserialize_with = "said")]
    rows_a_day_limit: Option<Option<i64>>,
    #[serde(default, deserialize_with = "said")]
    bytes_kept_limit: Option<Option<i64>>,
}

/// A member that is there, be it `null`.
fn said<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<i64>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Changes what a tenant may have.
pub(crate) async fn limit_tenant(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId,
    body: JsonBody,
) -> Answer<Json<Value>> {
    decide_on(&app, &principal, &body, async |tx, said: &Said<Changes>| {
        let tenant_id = parse_id(&id)?;
        let before = tenant::lock(&**tx, &tenant_id).await?.ok_or_else(|| not_found(&id))?;
        let limits = changed(before.limits, &said.rest)?;
        let after = tenant::limit(&**tx, &tenant_id, limits).await?.ok_or_else(|| not_found(&id))?;
        let outcome = Outcome { before: shown(&before), after: shown(&after) };
        Ok(Decided { action: "tenant.limit", subject: &id, outcome })
    })
    .await
}

fn changed(before: Limits, changes: &Changes) -> Answer<Limits> {
    let after = Limits {
        running: changes.running_limit.unwrap_or(before.running),
        waiting: changes.waiting_limit.unwrap_or(before.waiting),
        rows_a_day: changes.rows_a_day_limit.unwrap_or(before.rows_a_day),
        bytes_kept: changes.bytes_kept_limit.unwrap_or(before.bytes_kept),
    };
    let within = |name: &str, value: Option<i64>, max: i64| match value {
        Some(value) if !(1..=max).contains(&value) => {
            Err(Problem::field(name, format!("must be between 1 and {max}")))
        }
        Some(_) | None => Ok(()),
    };
    within("running_limit", Some(after.running.into()), RUNNING_LIMIT_MAX.into())?;
    within("waiting_limit", Some(after.waiting.into()), WAITING_LIMIT_MAX.into())?;
    within("rows_a_day_limit", after.rows_a_day, i64::MAX)?;
    within("bytes_kept_limit", after.bytes_kept, i64::MAX)?;
    Ok(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: Limits = Limits { running: 2, waiting: 10, rows_a_day: Some(7), bytes_kept: None };

    fn after(json: &str) -> Answer<Limits> {
        changed(BEFORE, &serde_json::from_str(json).unwrap())
    }

    #[test]
    fn what_is_not_said_stays_and_null_lifts_a_limit() {
        assert_eq!(after("{}").unwrap(), BEFORE);
        let lifted =
            after(r#"{"rows_a_day_limit": null, "bytes_kept_limit": 5, "running_limit": 1}"#).unwrap();
        assert_eq!(lifted, Limits { running: 1, waiting: 10, rows_a_day: None, bytes_kept: Some(5) });
    }

    #[test]
    fn a_limit_lets_something_be_and_has_a_bound() {
        for wrong in [
            r#"{"running_limit": 0}"#,
            r#"{"running_limit": 1001}"#,
            r#"{"waiting_limit": 1000001}"#,
            r#"{"rows_a_day_limit": 0}"#,
            r#"{"bytes_kept_limit": -1}"#,
        ] {
            assert_eq!(after(wrong).unwrap_err().code(), "request-invalid", "{wrong}");
        }
    }
}
