//! The listener for whoever runs the process.

use std::net::SocketAddr;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::get;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::health::{Health, Severity};
use crate::metrics::{Exporter, HEALTH_REASONS};
use crate::pool;
use crate::role::Role;

#[derive(Clone)]
struct Managed {
    health: Health,
    exporter: Exporter,
}

/// Binds a listener and logs `listening` with the role and the address that it got.
pub(crate) async fn listen(role: &'static str, address: SocketAddr) -> std::io::Result<TcpListener> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    tracing::info!(role, %address, "listening");
    Ok(listener)
}

/// Binds the management listener; its log line has the role `management`.
///
/// # Errors
/// When the address is taken or not this machine's.
pub async fn bind(address: SocketAddr) -> std::io::Result<TcpListener> {
    listen("management", address).await
}

/// Serves `/livez`, `/readyz` and `/metrics` until `stop` is cancelled.
///
/// # Errors
/// When the listener itself fails.
pub async fn serve(
    listener: TcpListener,
    health: Health,
    exporter: Exporter,
    stop: CancellationToken,
) -> std::io::Result<()> {
    let router = Router::new()
        .route("/livez", get(async || "ok\n"))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
        .with_state(Managed { health, exporter });
    // A scrape that is under way when the process ends is not waited for.
    tokio::select! {
        served = axum::serve(listener, router) => served,
        () = stop.cancelled() => Ok(()),
    }
}

async fn readyz(State(managed): State<Managed>) -> Response {
    let report = managed.health.report();
    let status = match report.status {
        "failed" => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::OK,
    };
    (status, Json(report)).into_response()
}

async fn metrics(State(managed): State<Managed>) -> Response {
    pool::observe();
    observe_health(&managed.health);
    managed.exporter.upkeep();
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], managed.exporter.render())
        .into_response()
}

fn observe_health(health: &Health) {
    let report = health.report();
    for role in Role::ALL {
        for (severity, name) in [(Severity::Degraded, "degraded"), (Severity::Failed, "failed")] {
            let of_this_kind = report
                .reasons
                .iter()
                .filter(|reason| reason.role == role.as_str() && reason.severity == severity);
            #[expect(clippy::cast_precision_loss, reason = "there are far fewer than 2^52 reasons")]
            let count = of_this_kind.count() as f64;
            metrics::gauge!(HEALTH_REASONS.name, "role" => role.as_str(), "severity" => name).set(count);
        }
    }
}
