//! Rows that are parked, as an operator sees them. Keys and values are base64: an outbox takes any bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use tokio_postgres::GenericClient;
use waybill_outbox::parked::{self, Filter, Listed, Place, Shown, State};

use crate::error::Error;
use crate::refusal::Refusal;

/// The most bytes of one header's value that are shown.
const HEADER_VALUE_BYTES_SHOWN_MAX: usize = 4_096;

/// Which rows are wanted, and which page of them.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// Of this topic, with this code.
    pub filter: Filter<'a>,
    /// Absent: those that nobody has settled.
    pub state: Option<&'a str>,
    /// The `next` of the page before.
    pub after: Option<&'a str>,
    /// The rows of a page; the caller has bounded it.
    pub limit: i64,
}

/// A page of rows: `{"parked", "next"}`, where `next` is null on the last one.
///
/// # Errors
/// [`Error`].
pub async fn list(tx: &impl GenericClient, wanted: &Wanted<'_>) -> Result<Value, Error> {
    let Wanted { filter, state, after, limit } = *wanted;
    let state = state.map(|word| State::parse(word).ok_or_else(Refusal::no_state)).transpose()?;
    let after = after.map(place).transpose()?.unwrap_or_default();
    let rows = match state.filter(|state| state.is_settled()) {
        Some(state) => parked::settled(tx, filter, state, after.seq, limit).await?,
        None => parked::undecided(tx, filter, state, after, limit).await?,
    };
    let next = last_of_full(&rows, limit).map(|row| format!("{}.{}", row.hold_id, row.seq));
    let rows: Vec<Value> = rows.iter().map(listed).collect();
    Ok(json!({ "parked": rows, "next": next }))
}

/// One row whole, by its number as it was written.
///
/// # Errors
/// [`Error`].
pub async fn show(tx: &impl GenericClient, seq: &str) -> Result<Value, Error> {
    let seq = seq.parse().map_err(|_malformed| Refusal::not_parked(&seq))?;
    Ok(shown(&find(tx, seq).await?))
}

pub(crate) async fn find(tx: &impl GenericClient, seq: i64) -> Result<Shown, Error> {
    Ok(parked::show(tx, seq).await?.ok_or_else(|| Refusal::not_parked(&seq))?)
}

/// The last entry of a page behind which there may be another one.
fn last_of_full(rows: &[Listed], limit: i64) -> Option<&Listed> {
    rows.last().filter(|_| usize::try_from(limit) == Ok(rows.len()))
}

/// A hold and a row, whichever the list: one that is ordered by its rows alone passes over the hold.
fn place(after: &str) -> Result<Place, Refusal> {
    let place = after
        .split_once('.')
        .and_then(|(hold_id, seq)| Some(Place { hold_id: hold_id.parse().ok()?, seq: seq.parse().ok()? }));
    place.ok_or_else(|| Refusal::invalid("after", "must be the next of a page of this list"))
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

pub(crate) fn shown(shown: &Shown) -> Value {
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
        assert_eq!(place("3.17"), Ok(Place { hold_id: 3, seq: 17 }));
        for other in ["", "3", "3.", ".17", "3.17.1", "a.b"] {
            assert!(place(other).is_err(), "{other}");
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
