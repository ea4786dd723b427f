//! What happens around every request: its id, its bounds, its span and its metrics.

use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tracing::Instrument;

use crate::app::App;
use crate::lent::Running;
use crate::metrics::{REQUEST_DURATION, REQUESTS};
use crate::preference::wait;
use crate::problem::{Kind, Problem};
use crate::request::{REQUEST_ID, request_id};
use crate::router::EXPORT;

/// Runs a request within its bounds and answers with its id, whatever comes of it.
pub(crate) async fn observe(
    State(app): State<App>,
    route: Option<MatchedPath>,
    request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let id = request_id(request.headers());
    let method = known(request.method());
    let route = route.as_ref().map_or("none", MatchedPath::as_str).to_owned();
    let span = tracing::info_span!(
        "request",
        request_id = id,
        http.method = method,
        http.route = route,
        service_account_id = tracing::field::Empty,
    );
    let mut response = bounded(&app, &route, request, next).instrument(span.clone()).await;
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    let status = response.status().as_u16();
    let duration = began.elapsed();
    tracing::debug!(parent: &span, http.status = status, duration_ms = duration.as_secs_f64() * 1e3, "answered");
    metrics::histogram!(REQUEST_DURATION, "route" => route.clone(), "method" => method)
        .record(duration.as_secs_f64());
    metrics::counter!(REQUESTS, "route" => route, "method" => method, "status" => status.to_string())
        .increment(1);
    response
}

async fn bounded(app: &App, route: &str, request: Request, next: Next) -> Response {
    // Whoever waits for a change works on nothing meanwhile; how many do is bounded where they wait.
    let reads = [Method::GET, Method::HEAD].contains(request.method());
    let waits = wait(request.headers()).filter(|_| reads && route == EXPORT);
    let permit = if waits.is_none() { Some(app.in_flight().try_acquire()) } else { None };
    if let Some(Err(_none)) = permit {
        return Problem::new(&Kind::OVERLOADED, "Too many requests are being worked on.").into_response();
    }
    let limit = app.config().api.request_timeout() + waits.unwrap_or_default();
    let answered = tokio::time::timeout(limit, Running::new(next.run(request))).await;
    answered.unwrap_or_else(|_elapsed| {
        tracing::warn!(
            code = Kind::REQUEST_TIMEOUT.code,
            limit_ms = limit.as_millis(),
            "a request took too long"
        );
        let detail = format!("It was not answered within {} ms.", limit.as_millis());
        Problem::new(&Kind::REQUEST_TIMEOUT, detail).into_response()
    })
}

/// The method as a label: a client can make up any number of others.
fn known(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}
