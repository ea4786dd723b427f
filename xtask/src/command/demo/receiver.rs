//! A small system that is told by webhook, and believes nothing that is not signed.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, Result};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use serde_json::Value;
use standardwebhooks::Webhook;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// A webhook as it came, its signature verified.
#[derive(Debug)]
pub(super) struct Received {
    pub(super) id: String,
    pub(super) body: Value,
}

/// Listens on loopback for one run of the demo.
#[derive(Debug)]
pub(super) struct Receiver {
    pub(super) address: SocketAddr,
    received: mpsc::Receiver<Received>,
}

#[derive(Clone)]
struct Door {
    key: Arc<Webhook>,
    verified: mpsc::Sender<Received>,
}

impl Receiver {
    /// Listens, and verifies with the tenant's key.
    pub(super) async fn listen(webhook_secret: &str) -> Result<Self> {
        let key = Webhook::new(webhook_secret).context("the signing key is unusable")?;
        let (verified, received) = mpsc::channel(16);
        let router = Router::new().route("/hooks/exports", post(receive));
        let router = router.with_state(Door { key: Arc::new(key), verified });
        let listener = TcpListener::bind("127.0.0.1:0").await.context("no port for the webhook receiver")?;
        let address = listener.local_addr()?;
        // It ends with the demo.
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { address, received })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/hooks/exports", self.address)
    }

    /// The next webhook whose signature is right.
    pub(super) async fn next(&mut self) -> Option<Received> {
        self.received.recv().await
    }
}

async fn receive(State(door): State<Door>, headers: HeaderMap, body: Bytes) -> StatusCode {
    if door.key.verify(&body, &headers).is_err() {
        return StatusCode::UNAUTHORIZED;
    }
    let Ok(json) = serde_json::from_slice(&body) else { return StatusCode::BAD_REQUEST };
    let id = headers.get("webhook-id").and_then(|id| id.to_str().ok()).unwrap_or_default().to_owned();
    // Nobody listens any more only when the demo is over.
    let _ = door.verified.send(Received { id, body: json }).await;
    StatusCode::NO_CONTENT
}
