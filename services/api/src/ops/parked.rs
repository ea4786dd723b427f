//! Rows of the outbox that are parked: what an operator sees of them, and what may be decided.
//!
//! Keys and values are base64: the outbox takes any bytes. Deliberately absent: sending; the active relay does that.

use axum::Json;
use axum::extract::State;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use deadpool_postgres::Object;
use serde::Deserialize;
use serde_json::{Value, json};
use waybill_outbox::parked::{self, Decided, Decision, Filter, Listed, Place, Rejection, Shown, Verb};
use waybill_runtime::chain;

use super::reason::{self, conclude, reason};
use crate::app::App;
use crate::page::Page;
use crate::principal::Principal;
use crate::problem::{Answer, Kind, Problem};
use crate::request::{JsonBody, Parameters, PathId};

/// The schema of the product's own outbox.
pub(super) const SCHEMA: &str = "outbox";

/// The most bytes of one header's value that are shown.
const HEADER_VALUE_BYTES_SHOWN_MAX: usize = 4_096;

/// Which rows are wanted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    topic: Option<String>,
    code: Option<String>,
    /// Absent: those that nobody has settled.
    state: Option<String>,
    after: Option<String>,
    limit: Option<i64>,
}

/// Which rows one decision is about.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct About {
    topic: Option<String>,
    code: Option<String>,
}

/// `GET /v1/ops/parked`.
pub(crate) async fn list_parked(
    State(app): State<App>,
    principal: Principal,
    Parameters(wanted): Parameters<Wanted>,
) -> Answer<Json<Value>> {
    principal.operator()?;
    let state = wanted.state.as_deref().map(state).transpose()?;
    let filter = Filter { topic: wanted.topic.as_deref(), code: wanted.code.as_deref() };
    let page = Page::new(wanted.after, wanted.limit);
    let limit = page.limit()?;
    let mut db = app.export().await?;
    let tx = db.transaction().await?;
    parked::look_into(&*tx, SCHEMA).await?;
    let (rows, next) = match state.filter(|state| state.is_settled()) {
        Some(state) => {
            let after = page.after.as_deref().map(seq).transpose()?.unwrap_or_default();
            let rows = parked::settled(&*tx, filter, state, after, limit).await?;
            let next = Page::next(&rows, limit, |row| row.seq.to_string());
            (rows, next)
        }
        None => {
            let after = page.after.as_deref().map(place).transpose()?.unwrap_or_default();
            let rows = parked::undecided(&*tx, filter, state, after, limit).await?;
            let next = Page::next(&rows, limit, |row| format!("{}.{}", row.hold_id, row.seq));
            (rows, next)
        }
    };
    let rows: Vec<Value> = rows.iter().map(listed).collect();
    Ok(Json(json!({ "parked": rows, "next": next })))
}

/// `GET /v1/ops/parked/{seq}`.
pub(crate) async fn show_parked(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId,
) -> Answer<Response> {
    principal.operator()?;
    let seq = known(&id)?;
    let mut db = app.export().await?;
    let tx = db.transaction().await?;
    parked::look_into(&*tx, SCHEMA).await?;
    let row = parked::show(&*tx, seq).await?.ok_or_else(|| not_found(&id))?;
    Ok(([(CACHE_CONTROL, "no-store")], Json(shown(&row))).into_response())
}

/// `POST /v1/ops/parked/{seq}/retry`: its cause is gone, it is sent in order.
pub(crate) async fn retry_parked(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId,
    body: JsonBody,
) -> Answer<Json<Value>> {
    decide_one(&app, &principal, &id, &body, Verb::Retry).await
}

/// `POST /v1/ops/parked/{seq}/discard`: it is never sent, and what waits behind it goes on.
pub(crate) async fn discard_parked(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId,
    body: JsonBody,
) -> Answer<Json<Value>> {
    decide_one(&app, &principal, &id, &body, Verb::Discard).await
}

/// `POST /v1/ops/parked/retry?topic=&code=`.
pub(crate) async fn retry_all_parked(
    State(app): State<App>,
    principal: Principal,
    Parameters(about): Parameters<About>,
    body: JsonBody,
) -> Answer<Json<Value>> {
    decide_many(&app, &principal, &about, &body, Verb::Retry).await
}

/// `POST /v1/ops/parked/discard?topic=&code=`.
pub(crate) async fn discard_all_parked(
    State(app): State<App>,
    principal: Principal,
    Parameters(about): Parameters<About>,
    body: JsonBody,
) -> Answer<Json<Value>> {
    decide_many(&app, &principal, &about, &body, Verb::Discard).await
}

async fn decide_one(
    app: &App,
    principal: &Principal,
    id: &str,
    body: &JsonBody,
    verb: Verb,
) -> Answer<Json<Value>> {
    principal.operator()?;
    let seq = known(id)?;
    let reasoned = reason(body)?;
    let mut db = app.export().await?;
    let tx = db.transaction().await?;
    parked::look_into(&*tx, SCHEMA).await?;
    let before = parked::show(&*tx, seq).await?.ok_or_else(|| not_found(id))?;
    let by = principal.service_account_id.as_str();
    let decision = Decision { verb, by, reason: &reasoned.reason };
    match parked::decide(&*tx, seq, decision).await?.ok_or_else(|| not_found(id))? {
        Decided::Done(_) => {}
        Decided::Rejected(rejection) => return Err(refused(rejection, &before)),
    }
    let after = parked::show(&*tx, seq).await?.ok_or_else(|| not_found(id))?;
    let (before, after) = (shown(&before), shown(&after));
    let decided = reason::Decided { action: action(verb), subject: id, reasoned: &reasoned, before, after };
    let answer = conclude(tx, principal, decided).await?;
    wake(&db).await;
    Ok(answer)
}

async fn decide_many(
    app: &App,
    principal: &Principal,
    about: &About,
    body: &JsonBody,
    verb: Verb,
) -> Answer<Json<Value>> {
    principal.operator()?;
    let reasoned = reason(body)?;
    let About { topic, code } = about;
    if topic.is_none() && code.is_none() {
        return Err(Problem::field("topic", "must be given, or code, so that not everything is meant"));
    }
    let mut db = app.export().await?;
    let tx = db.transaction().await?;
    parked::look_into(&*tx, SCHEMA).await?;
    let by = principal.service_account_id.as_str();
    let filter = Filter { topic: topic.as_deref(), code: code.as_deref() };
    let decision = Decision { verb, by, reason: &reasoned.reason };
    let matching = parked::decide_matching(&*tx, filter, decision).await?;
    let subject = json!({ "topic": topic, "code": code }).to_string();
    let shown = |rows: u64, holds: u64| json!({ "topic": topic, "code": code, "rows": rows, "holds": holds });
    let mut after = shown(matching.rows, matching.holds);
    after["more"] = matching.more.into();
    let before = shown(0, 0);
    let decided =
        reason::Decided { action: action(verb), subject: &subject, reasoned: &reasoned, before, after };
    let answer = conclude(tx, principal, decided).await?;
    wake(&db).await;
    Ok(answer)
}

/// Lets the relay look at once; it polls as well.
pub(super) async fn wake(db: &Object) {
    if let Err(error) = waybill_outbox::wake(&***db).await {
        tracing::debug!(error = %chain(&error), "could not wake the relay");
    }
}

const fn action(verb: Verb) -> &'static str {
    match verb {
        Verb::Retry => "parked.retry",
        Verb::Discard => "parked.discard",
    }
}

fn refused(rejection: Rejection, row: &Shown) -> Problem {
    let detail = format!("Row {} is left as it is: {rejection}.", row.row.seq);
    match rejection {
        Rejection::Settled { state } => {
            Problem::new(&Kind::PARKED_SETTLED, detail).with("state", state.as_str().into())
        }
        Rejection::Behind { refused_seq } => {
            Problem::new(&Kind::PARKED_BEHIND, detail).with("refused_seq", refused_seq.into())
        }
    }
}

fn state(word: &str) -> Answer<parked::State> {
    parked::State::parse(word).ok_or_else(|| {
        let words: Vec<&str> = parked::State::ALL.iter().map(|state| state.as_str()).collect();
        Problem::field("state", format!("must be one of {}", words.join(", ")))
    })
}

/// A row's number in a path.
fn known(id: &str) -> Answer<i64> {
    id.parse().map_err(|_malformed| not_found(id))
}

fn not_found(id: &str) -> Problem {
    Problem::new(&Kind::PARKED_NOT_FOUND, format!("No row {id:?} of the outbox was ever parked."))
}

fn seq(after: &str) -> Answer<i64> {
    after.parse().map_err(|_malformed| Problem::field("after", "must be the next of a page of the same list"))
}

fn place(after: &str) -> Answer<Place> {
    let place = after
        .split_once('.')
        .and_then(|(hold_id, seq)| Some(Place { hold_id: hold_id.parse().ok()?, seq: seq.parse().ok()? }));
    place.ok_or_else(|| Problem::field("after", "must be the next of a page of the same list"))
}

fn listed(row: &Listed) -> Value {
    json!({
        "seq": row.seq,
        "state": row.state.as_str(),
        "hold_id": row.hold_id,
        "scope": row.scope.as_str(),
        "topic": row.topic,
        "key": row.key.as_deref().map(|key| BASE64.encode(key)),
        "event_id": row.event_id,
        "payload_bytes": row.payload_bytes,
        "code": row.code,
        "detail": row.detail,
        "refusals": row.refusals,
        "created_at": row.created_at,
        "parked_at": row.parked_at,
        "decided_by": row.decided_by,
        "decided_at": row.decided_at,
        "decision_reason": row.decision_reason,
        "sent_at": row.sent_at,
    })
}

fn shown(shown: &Shown) -> Value {
    let mut body = listed(&shown.row);
    let headers: Vec<Value> =
        shown.headers.iter().map(|(name, value)| header(name, value.as_deref())).collect();
    let bytes_shown = shown.payload.as_ref().map_or(0, Vec::len);
    body["headers"] = headers.into();
    body["payload"] = shown.payload.as_deref().map(|payload| BASE64.encode(payload)).into();
    body["payload_truncated"] =
        shown.row.payload_bytes.is_some_and(|bytes| usize::try_from(bytes) != Ok(bytes_shown)).into();
    body["behind"] = shown.behind.into();
    body["hold"] = json!({
        "hold_id": shown.row.hold_id,
        "scope": shown.row.scope.as_str(),
        "code": shown.hold.code,
        "detail": shown.hold.detail,
        "held_at": shown.hold.held_at,
        "resume_requested_at": shown.hold.resume_requested_at,
        "ended_at": shown.hold.ended_at,
    });
    body
}

/// A header with its value as text where it is short text, which most are, and as base64 otherwise.
fn header(name: &str, value: Option<&[u8]>) -> Value {
    let cut = value.map(|value| &value[..value.len().min(HEADER_VALUE_BYTES_SHOWN_MAX)]);
    match cut.map(std::str::from_utf8) {
        Some(Ok(text)) if cut == value => json!({ "name": name, "value": text }),
        _ => json!({ "name": name, "value_base64": cut.map(|cut| BASE64.encode(cut)) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_the_list_is_read_back_and_nothing_else_is() {
        assert_eq!(place("3.17").unwrap(), Place { hold_id: 3, seq: 17 });
        for other in ["", "3", "3.", ".17", "3.17.1", "a.b"] {
            assert_eq!(place(other).unwrap_err().code(), "request-invalid", "{other}");
        }
    }

    #[test]
    fn a_value_that_is_no_text_or_is_long_is_shown_in_base64() {
        assert_eq!(header("a", Some(b"1")), json!({ "name": "a", "value": "1" }));
        assert_eq!(header("a", Some(b"")), json!({ "name": "a", "value": "" }));
        assert_eq!(header("a", Some(b"\xff")), json!({ "name": "a", "value_base64": "/w==" }));
        assert_eq!(header("a", None), json!({ "name": "a", "value_base64": null }));
        let long = vec![b'x'; HEADER_VALUE_BYTES_SHOWN_MAX + 1];
        assert!(header("a", Some(&long))["value_base64"].is_string());
    }
}
