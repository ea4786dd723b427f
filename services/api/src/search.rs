//! `GET /v1/search?q=…&limit=…`: the caller's exports by what they are called and labelled.

use axum::Json;
use axum::extract::State;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;
use waybill_domain::search_text;
use waybill_store::api_key::Scope;
use waybill_store::document::{self, Hit};

use crate::app::App;
use crate::page::limit;
use crate::principal::Principal;
use crate::problem::{Answer, Problem};
use crate::request::Parameters;

/// The longest query, in characters.
const QUERY_CHARACTERS_MAX: usize = 500;
/// How many exports are answered when the caller says nothing.
const HITS_DEFAULT: i64 = 20;
/// The most exports that are answered.
const HITS_MAX: i64 = 100;

/// What is searched for.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// All of its parts must be found.
    #[param(required, nullable = false, pattern = r"^[^\u0000]{1,500}$")]
    q: Option<String>,
    #[param(nullable = false, minimum = 1, maximum = 100)]
    limit: Option<i64>,
}

/// Answers the newest exports of the caller's tenant that hold every part of `q`. A query without a letter or a
/// digit finds nothing.
pub(crate) async fn search(
    State(app): State<App>,
    principal: Principal,
    Parameters(wanted): Parameters<Wanted>,
) -> Answer<Response> {
    let tenant_id = principal.tenant(Scope::ExportsRead)?;
    let limit = limit(wanted.limit, HITS_DEFAULT, HITS_MAX)?;
    let text = wanted.q.unwrap_or_default();
    if !(1..=QUERY_CHARACTERS_MAX).contains(&text.chars().count()) {
        return Err(Problem::field("q", format!("is required: 1 to {QUERY_CHARACTERS_MAX} characters")));
    }
    let hits = match search_text::query(&text) {
        Some(query) => document::search(&**app.search().await?, tenant_id, &query, limit).await?.hits,
        None => Vec::new(),
    };
    let exports: Vec<Value> = hits.iter().map(shown).collect();
    let body = Json(json!({ "query": text, "exports": exports }));
    Ok(([(CACHE_CONTROL, "no-store")], body).into_response())
}

fn shown(hit: &Hit) -> Value {
    json!({
        "export_id": hit.export_id,
        "state": hit.state.as_str(),
        "version": hit.version,
        "dataset": hit.dataset,
        "format": hit.format,
        "name": hit.name,
        "labels": hit.labels,
        "rows": hit.rows,
        "bytes": hit.bytes,
        "accepted_at": hit.accepted_at,
        "finished_at": hit.finished_at,
        "links": { "self": format!("/v1/exports/{}", hit.export_id) },
    })
}
