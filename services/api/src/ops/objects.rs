//! What an operator sees of files: each candidate with what becomes of it and why, by the collector's own judgement; and
//! what lies in the store that no row knows. Deliberately absent: any deletion.

use std::collections::BTreeSet;

use axum::Json;
use axum::extract::State;
use object_store::ObjectMeta;
use object_store::path::Path;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;
use waybill_domain::candidate::{CandidateState, Cause, Patience, Verdict, judge};
use waybill_domain::ids::{CandidateId, ExportId};
use waybill_objects::EXPORTS;
use waybill_store::collection::{self, Found};

use crate::app::App;
use crate::page::{self, Page};
use crate::principal::Principal;
use crate::problem::{Answer, Problem};
use crate::request::Parameters;

/// Which candidates are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    #[param(nullable = false, pattern = "^(writing|verified|selected|condemned|deleted)$")]
    state: Option<String>,
    #[param(nullable = false, pattern = "^exp_[0-9a-f]{32}$")]
    export_id: Option<String>,
    #[param(nullable = false, pattern = "^can_[0-9a-f]{32}$")]
    after: Option<String>,
    #[param(nullable = false, minimum = 1, maximum = 1000)]
    limit: Option<i64>,
}

/// `GET /v1/ops/objects`: candidates in the order of their making, each with its verdict.
pub(crate) async fn list_objects(
    State(app): State<App>,
    principal: Principal,
    Parameters(wanted): Parameters<Wanted>,
) -> Answer<Json<Value>> {
    principal.operator()?;
    let page = Page::new(wanted.after, wanted.limit);
    let limit = page.limit()?;
    let after = page::id("after", page.after.as_deref(), CandidateId::parse)?;
    let export_id = page::id("export_id", wanted.export_id.as_deref(), ExportId::parse)?;
    let state = wanted.state.as_deref().map(state).transpose()?;
    let wanted = collection::Wanted { state, export_id: export_id.as_ref() };
    let found = collection::list(&**app.export().await?, wanted, after.as_ref(), limit).await?;
    let next = Page::next(&found, limit, |found| found.candidate_id.to_string());
    let patience = app.patience();
    let objects: Vec<Value> = found.iter().map(|found| shown(found, patience)).collect();
    Ok(Json(json!({ "objects": objects, "next": next })))
}

/// `GET /v1/ops/objects/unknown`: objects that no row knows. A page may be empty and yet not the last.
pub(crate) async fn list_unknown_objects(
    State(app): State<App>,
    principal: Principal,
    Parameters(page): Parameters<Page>,
) -> Answer<Json<Value>> {
    principal.operator()?;
    let limit = page.limit()?;
    let listed = read(&app, page.after.as_deref(), usize::try_from(limit).unwrap_or(usize::MAX)).await?;
    let keys: Vec<&str> = listed.iter().map(|object| object.location.as_ref()).collect();
    let known = collection::known(&**app.export().await?, &keys).await?;
    let known: BTreeSet<&str> = known.iter().map(|(key, _)| key.as_str()).collect();
    let unknown: Vec<Value> = listed
        .iter()
        .filter(|object| !known.contains(object.location.as_ref()))
        .map(|object| {
            json!({
                "object_key": object.location.as_ref(),
                "bytes": object.size,
                "modified_at": object.last_modified.to_rfc3339(),
            })
        })
        .collect();
    let next = Page::next(&listed, limit, |object| object.location.to_string());
    Ok(Json(json!({ "objects": unknown, "next": next })))
}

/// The next objects of the store, in the order of their keys.
async fn read(app: &App, after: Option<&str>, limit: usize) -> Answer<Vec<ObjectMeta>> {
    let prefix = Path::from(EXPORTS);
    if after == Some("") {
        return Err(Problem::field("after", "must be an object's key"));
    }
    // What is no key of an object lies between those of two all the same.
    let offset = after.map(|text| Path::parse(text).unwrap_or_else(|_no_key| Path::from(text)));
    let listed = app.objects().page(&prefix, offset.as_ref(), limit).await;
    listed.map_err(|error| Problem::store_unavailable(&error))
}

fn state(text: &str) -> Answer<CandidateState> {
    CandidateState::parse(text).ok_or_else(|| {
        let all = CandidateState::ALL.map(CandidateState::as_str).join(", ");
        Problem::field("state", format!("must be one of {all}"))
    })
}

/// A candidate, what the collector will do about it, and the rows that say so.
fn shown(found: &Found, patience: Patience) -> Value {
    let standing = &found.standing;
    let (verdict, why, until) = match judge(standing, patience, found.now) {
        Verdict::Keep(reason) => ("keep", Some(reason.as_str()), reason.until()),
        Verdict::Condemn(cause) => ("condemn", Some(cause.as_str()), None),
        Verdict::Delete(cause) => ("delete", Some(cause.as_str()), None),
        Verdict::Gone => ("gone", found.condemned_because.map(Cause::as_str), None),
    };
    json!({
        "candidate_id": found.candidate_id,
        "export_id": found.export_id,
        "tenant_id": found.tenant_id,
        "object_key": found.object_key,
        "state": standing.state.as_str(),
        "bytes": found.bytes,
        "created_at": standing.created_at,
        "verdict": verdict,
        "why": why,
        "until": until,
        "evidence": {
            "fence": standing.fence,
            "attempt_state": standing.attempt.as_str(),
            "export_state": standing.job.as_str(),
            "export_fence": standing.job_fence,
            "is_result": standing.is_result,
            "condemned_at": standing.condemned_at,
            "condemned_because": found.condemned_because.map(Cause::as_str),
            "deleted_at": found.deleted_at,
        },
    })
}
