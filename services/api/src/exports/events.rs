//! `GET /v1/exports/{id}/events`: an export as it is, and again whenever it is other than it was, until it has its outcome.
//!
//! Server-sent events (WHATWG HTML, section 9.2). An event is the whole representation and its id is the representation's
//! validator behind the version, so whoever comes back with `Last-Event-ID` is sent what it has not seen; what came and went
//! meanwhile is in that, too. Deliberately absent: an event for each version. Those are the facts, and the facts are on Kafka.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{Stream, unfold};
use tokio::time::{Instant, timeout_at};
use waybill_store::api_key::Scope;
use waybill_store::job::JobView;
use waybill_store::watched::Mark;

use super::{find, parse_id, representation};
use crate::app::App;
use crate::conditional::tag;
use crate::principal::Principal;
use crate::problem::{Answer, Kind, Problem};
use crate::request::PathId;
use crate::watching::Watcher;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Tells a proxy that knows it to pass on what there is.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
/// How often a stream says that it is still there; and its key is looked at again.
const KEEP_ALIVE_SECONDS: u64 = 15;
/// After this long a stream ends, and whoever follows it comes back with what it saw last.
const STREAM_MINUTES_MAX: u64 = 60;
/// How long a caller is asked to wait before it comes back.
const RECONNECT_MS: u64 = 2_000;
/// How long a caller is asked to wait for a place.
const PLACE_SECONDS: u32 = 10;

const SECONDS_OF_A_MINUTE: u64 = 60;

/// Begins the stream. Every refusal comes before it, as for any request.
pub(crate) async fn events(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId,
    headers: HeaderMap,
) -> Answer<Response> {
    let tenant_id = principal.tenant(Scope::ExportsRead)?;
    let export_id = parse_id(&id)?;
    let view = find(&app, tenant_id, &id).await?;
    let watcher = app.watching().watch(tenant_id, &export_id).ok_or_else(|| no_place(&app))?;
    let seen = headers.get(LAST_EVENT_ID).and_then(|value| value.to_str().ok()).map(str::to_owned);
    // The one status by which a client that reads events is told not to come back.
    if view.job.lifecycle.state.is_terminal() && seen == Some(event_id(&view)) {
        return Ok((StatusCode::NO_CONTENT, [(CACHE_CONTROL, "no-store")]).into_response());
    }
    let ends_at = Instant::now() + Duration::from_secs(STREAM_MINUTES_MAX * SECONDS_OF_A_MINUTE);
    let following = Following { app, principal, watcher, sent: None, seen, ends_at };
    let headers =
        [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-store"), (X_ACCEL_BUFFERING, "no")];
    Ok((headers, Body::from_stream(following.stream(id))).into_response())
}

fn no_place(app: &App) -> Problem {
    let limit = app.config().api.watchers_per_tenant_max;
    let detail =
        format!("A tenant may have {limit} waits and streams open here, and all of them a few more.");
    Problem::new(&Kind::QUOTA_EXCEEDED, detail)
        .with("quota", "watching".into())
        .with("limit", limit.into())
        .retry_after(PLACE_SECONDS)
}

/// Somebody who follows an export.
struct Following {
    app: App,
    principal: Principal,
    watcher: Watcher,
    /// How far the export was when it was last read, and its event's id.
    sent: Option<(Mark, String)>,
    /// What the caller saw last, before this stream.
    seen: Option<String>,
    ends_at: Instant,
}

/// What comes next in a stream.
enum Next {
    Part(Bytes),
    /// The last part.
    Last(Bytes),
    End,
}

impl Following {
    fn stream(self, id: String) -> impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static {
        unfold(Some((self, id)), |following| async move {
            let (mut following, id) = following?;
            match following.next(&id).await {
                Next::Part(part) => Some((Ok(part), Some((following, id)))),
                Next::Last(part) => Some((Ok(part), None)),
                Next::End => None,
            }
        })
    }

    async fn next(&mut self, id: &str) -> Next {
        loop {
            let known = self.sent.as_ref().map(|(mark, _)| *mark);
            let heard = match known {
                None => Ok(true),
                Some(known) => {
                    let pause = Instant::now() + Duration::from_secs(KEEP_ALIVE_SECONDS);
                    timeout_at(pause.min(self.ends_at), self.watcher.changed(|mark| *mark == known)).await
                }
            };
            let (Ok(true) | Err(_)) = heard else { return Next::End };
            if Instant::now() >= self.ends_at || self.principal.again(&self.app).await.is_err() {
                return Next::End;
            }
            if heard.is_err() {
                return Next::Part(Bytes::from_static(b": still here\n\n"));
            }
            let Ok(tenant_id) = self.principal.tenant(Scope::ExportsRead) else { return Next::End };
            // What cannot be read now is asked for again by whoever comes back.
            let Ok(view) = find(&self.app, tenant_id, id).await else { return Next::End };
            if let Some(next) = self.said(&view) {
                return next;
            }
        }
    }

    /// What is said of an export that was read; nothing, where that was said already.
    fn said(&mut self, view: &JobView) -> Option<Next> {
        let event_id = event_id(view);
        let before = self.sent.replace((Mark::of(view), event_id.clone())).map(|(_, event_id)| event_id);
        let is_first = before.is_none();
        let is_terminal = view.job.lifecycle.state.is_terminal();
        if before.or(self.seen.take()).as_ref() == Some(&event_id) {
            return is_terminal.then_some(Next::End);
        }
        let retry = if is_first { format!("retry: {RECONNECT_MS}\n") } else { String::new() };
        // JSON as we write it has no line breaks, which an event's data could not have.
        let part = format!("{retry}id: {event_id}\nevent: export\ndata: {}\n\n", representation(view));
        Some(if is_terminal { Next::Last(part.into()) } else { Next::Part(part.into()) })
    }
}

/// The version, and the validator of the whole.
fn event_id(view: &JobView) -> String {
    format!("{}-{}", view.job.lifecycle.version, tag(&representation(view)))
}
