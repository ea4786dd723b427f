//! `GET /v1/exports`: the caller's exports, newest first, in pages that stay right while more are accepted.

use axum::Json;
use axum::extract::State;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;
use uuid::Uuid;
use waybill_domain::ids::ExportId;
use waybill_domain::job::JobState;
use waybill_store::api_key::Scope;
use waybill_store::job::JobView;
use waybill_store::listing::{self, Filter, Place};

use super::representation;
use crate::app::App;
use crate::page::{self, Page};
use crate::principal::Principal;
use crate::problem::{Answer, Problem};
use crate::request::Parameters;

/// Which exports are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    #[param(
        nullable = false,
        pattern = "^(pending|running|quarantined|succeeded|failed|cancelled|expired|deleted)$"
    )]
    state: Option<String>,
    #[param(nullable = false, pattern = r"^[^\u0000]*$")]
    dataset: Option<String>,
    #[param(nullable = false, pattern = r"^[^\u0000]*$")]
    name: Option<String>,
    /// A key, `=` and a value.
    #[param(nullable = false, pattern = r"^[^\u0000=]+=[^\u0000]*$")]
    label: Option<String>,
    #[param(nullable = false, format = DateTime)]
    accepted_from: Option<String>,
    #[param(nullable = false, format = DateTime)]
    accepted_before: Option<String>,
    #[param(nullable = false, pattern = "^exp_[0-9a-f]{32}$")]
    retry_of: Option<String>,
    /// The `next` of the page before.
    #[param(nullable = false, pattern = "^[A-Za-z0-9_-]{32}$")]
    after: Option<String>,
    #[param(nullable = false, minimum = 1, maximum = 1000)]
    limit: Option<i64>,
}

/// Answers a page of the caller's tenant's exports.
pub(crate) async fn list(
    State(app): State<App>,
    principal: Principal,
    Parameters(mut wanted): Parameters<Wanted>,
) -> Answer<Response> {
    let tenant_id = principal.tenant(Scope::ExportsRead)?;
    let page = Page::new(wanted.after.take(), wanted.limit);
    let limit = page.limit()?;
    let after = page.after.as_deref().map(place).transpose()?;
    let retry_of = page::id("retry_of", wanted.retry_of.as_deref(), ExportId::parse)?;
    let filter = filter(&wanted, retry_of.as_ref())?;
    let exports =
        listing::of_tenant(&**app.export().await?, tenant_id, filter, after.as_ref(), limit).await?;
    let next = Page::next(&exports, limit, cursor);
    let exports: Vec<Value> = exports.iter().map(representation).collect();
    let body = Json(json!({ "exports": exports, "next": next }));
    Ok(([(CACHE_CONTROL, "no-store")], body).into_response())
}

fn filter<'a>(wanted: &'a Wanted, retry_of: Option<&'a ExportId>) -> Answer<Filter<'a>> {
    let label = |text: &'a str| {
        text.split_once('=').ok_or_else(|| Problem::field("label", "must be a key, `=` and a value"))
    };
    Ok(Filter {
        state: wanted.state.as_deref().map(state).transpose()?,
        dataset: wanted.dataset.as_deref(),
        name: wanted.name.as_deref(),
        label: wanted.label.as_deref().map(label).transpose()?,
        accepted_from: time("accepted_from", wanted.accepted_from.as_deref())?,
        accepted_before: time("accepted_before", wanted.accepted_before.as_deref())?,
        retry_of,
    })
}

fn state(text: &str) -> Answer<JobState> {
    JobState::parse(text).ok_or_else(|| {
        let all = JobState::ALL.map(JobState::as_str).join(", ");
        Problem::field("state", format!("must be one of {all}"))
    })
}

fn time(name: &str, text: Option<&str>) -> Answer<Option<Timestamp>> {
    let invalid = |error| Problem::field(name, format!("must be a time of RFC 3339: {error}"));
    // Nothing was accepted before 1970, and not every earlier time is one of Postgres.
    let bounded = |time: Timestamp| time.max(Timestamp::UNIX_EPOCH);
    text.map(|text| text.parse().map(bounded).map_err(invalid)).transpose()
}

/// What a place is called outside: nothing that a caller should take apart. As many bytes as time and id have, so that every
/// text of this length and alphabet is a place, if only one that no page has ever said.
fn cursor(view: &JobView) -> String {
    let job = &view.job;
    let id = job.export_id.as_str().trim_start_matches(ExportId::PREFIX).trim_start_matches('_');
    let id = Uuid::parse_str(id).unwrap_or_default();
    let bytes = [&job.accepted_at.as_microsecond().to_be_bytes()[..], id.as_bytes()].concat();
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The place that a cursor stands for.
fn place(cursor: &str) -> Answer<Place> {
    let read = || {
        let bytes: [u8; 24] = URL_SAFE_NO_PAD.decode(cursor).ok()?.try_into().ok()?;
        let (time, id) = bytes.split_first_chunk::<8>()?;
        let (time, id) = (i64::from_be_bytes(*time), Uuid::from_slice(id).ok()?);
        // The last second of a timestamp has no fractions.
        let last = Timestamp::MAX.as_second() * 1_000_000;
        let accepted_at = Timestamp::from_microsecond(time.clamp(0, last)).ok()?;
        Some(Place { accepted_at, export_id: ExportId::from_uuid(id) })
    };
    read().ok_or_else(|| Problem::field("after", "must be the `next` of a page of this list"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filtered(query: &str) -> Result<(), &'static str> {
        let uri = format!("/v1/exports?{query}").parse().unwrap();
        let axum::extract::Query(wanted) = axum::extract::Query::<Wanted>::try_from_uri(&uri).unwrap();
        filter(&wanted, None).map(drop).map_err(|problem| problem.code())
    }

    #[test]
    fn a_filter_that_means_nothing_is_refused() {
        filtered("state=failed&label=quarter%3D4%3D5&accepted_from=2026-01-31T00:00:00%2B01:00").unwrap();
        for wrong in ["state=gone", "label=quarter", "accepted_from=yesterday", "accepted_before=2026-01-31"]
        {
            assert_eq!(filtered(wrong), Err("request-invalid"), "{wrong}");
        }
    }

    #[test]
    fn every_text_of_a_cursors_length_and_alphabet_is_a_place_and_no_other_is_one() {
        let of = |time: i64, id: u8| URL_SAFE_NO_PAD.encode([&time.to_be_bytes()[..], &[id; 16]].concat());
        let whole = place(&of(1_700_000_000_000_001, 0xab)).unwrap();
        assert_eq!(whole.accepted_at.as_microsecond(), 1_700_000_000_000_001);
        assert_eq!(whole.export_id.as_str(), format!("exp_{}", "ab".repeat(16)));
        for far in [i64::MIN, i64::MAX] {
            place(&of(far, 0)).unwrap();
        }
        for wrong in ["", "exp_0123456789abcdef0123456789abcdef", "AAAA", &"=".repeat(32), &"A".repeat(33)] {
            assert!(place(wrong).is_err(), "{wrong:?}");
        }
    }
}
