//! The listener's life.
//!
//! Everything that a caller can hold without saying who it is has a bound here: how many connections there are, and
//! how long one may take over the head of a request, and over taking its answer. What a request may take is bounded by
//! [`crate::observe`].

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_io_timeout::TimeoutWriter;
use tokio_util::sync::CancellationToken;
use waybill_runtime::{Context, Health};

use crate::app::App;
use crate::codes;
use crate::error::Error;
use crate::health::watch;
use crate::router::router;
use crate::watching::{listen, poll};

/// How long requests and downloads that are under way may go on after the process was asked to end.
const DRAIN_SECONDS_MAX: u64 = 20;
/// How long no connection is taken after the system had no means for one more, such as a file descriptor.
const ACCEPT_PAUSE_MS: u64 = 100;
/// What `/readyz` calls the connections.
const CONNECTIONS: &str = "connections";

/// Answers callers until `context.shutdown` is cancelled, then lets what is under way end, within a bound.
///
/// # Errors
/// When the configuration cannot be used or the address cannot be listened on. A database that is away is no error:
/// requests are answered 503 until it is back.
pub async fn run(context: Context) -> Result<(), Error> {
    let app = App::new(&context)?;
    let address = context.config.api.listen;
    let listener = context.listen(address).await.map_err(|source| Error::Listen { address, source })?;
    context.begun();
    let watching = tokio::spawn(watch(app.clone(), context.health.clone(), context.shutdown.clone()));
    let polling = tokio::spawn(poll(app.watching().clone(), app.export_pool().clone()));
    let listening = tokio::spawn(listen(context.clone(), app.watching().clone()));
    let bounds = Bounds {
        connections_max: context.config.api.connections_max,
        header_timeout: context.config.api.header_timeout(),
        stall_timeout: context.config.api.stall_timeout(),
    };
    let connections = serve(&listener, &router(app), bounds, &context.health, &context.shutdown).await;
    // Nobody is to connect to what is about to end.
    drop(listener);
    drain(connections).await;
    for task in [watching, polling, listening] {
        task.abort();
    }
    Ok(())
}

/// What connections may take.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    /// How many there are at once.
    connections_max: usize,
    /// How long the head of a request may take, and how long a connection may wait for one.
    header_timeout: Duration,
    /// How long nothing may be taken of an answer.
    stall_timeout: Duration,
}

/// Takes connections until `shutdown`, and gives those that are open then; they have been told to end.
async fn serve(
    listener: &TcpListener,
    router: &Router,
    bounds: Bounds,
    health: &Health,
    shutdown: &CancellationToken,
) -> JoinSet<()> {
    let permits = Arc::new(Semaphore::new(bounds.connections_max));
    let mut connections = JoinSet::new();
    loop {
        let next = async {
            let permit = permit(&permits, health).await?;
            Some((permit, accept(listener).await))
        };
        let (permit, stream) = tokio::select! {
            () = shutdown.cancelled() => return connections,
            next = next => match next {
                Some(next) => next,
                None => return connections,
            },
        };
        // Those that are over are forgotten here, so that the set is never larger than the bound.
        while connections.try_join_next().is_some() {}
        let speaking = speak(stream, router.clone(), bounds, shutdown.clone());
        connections.spawn(async move {
            speaking.await;
            drop(permit);
        });
    }
}

/// Waits for one connection less than the bound. `None` never comes: the semaphore is not closed.
async fn permit(permits: &Arc<Semaphore>, health: &Health) -> Option<OwnedSemaphorePermit> {
    if let Ok(permit) = permits.clone().try_acquire_owned() {
        return Some(permit);
    }
    health.degraded(
        CONNECTIONS,
        codes::OVERLOADED,
        "as many connections are open as [api] connections_max allows",
    );
    let permit = permits.clone().acquire_owned().await.ok();
    health.clear(CONNECTIONS);
    permit
}

/// The next connection. What goes wrong with one says nothing about the next one.
async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) if is_of_the_peer(&error) => {}
            Err(error) => {
                tracing::error!(code = codes::OVERLOADED, error = %error, "cannot take a connection");
                tokio::time::sleep(Duration::from_millis(ACCEPT_PAUSE_MS)).await;
            }
        }
    }
}

/// Whether the other side went away before it was spoken to.
fn is_of_the_peer(error: &io::Error) -> bool {
    let kinds =
        [io::ErrorKind::ConnectionRefused, io::ErrorKind::ConnectionAborted, io::ErrorKind::ConnectionReset];
    kinds.contains(&error.kind())
}

/// Answers the requests of one connection until it is closed; after `shutdown` only the one that is under way.
async fn speak(stream: TcpStream, router: Router, bounds: Bounds, shutdown: CancellationToken) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(bounds.header_timeout);
    // Hyper has no bound for a caller that stops reading.
    let mut stream = TimeoutWriter::new(stream);
    stream.set_timeout(Some(bounds.stall_timeout));
    let stream = TokioIo::new(Box::pin(stream));
    let connection = http.serve_connection(stream, TowerToHyperService::new(router));
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = shutdown.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    // A caller that goes away, or is too slow, is its own affair.
    if let Err(error) = ended {
        tracing::debug!(error = %waybill_runtime::chain(&error), "a connection ended early");
    }
}

/// Lets what is under way end, within the bound; what is left then is broken off.
async fn drain(mut connections: JoinSet<()>) {
    let all = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(Duration::from_secs(DRAIN_SECONDS_MAX), all).await.is_err() {
        tracing::warn!(drain_seconds_max = DRAIN_SECONDS_MAX, "requests that did not end were broken off");
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::sync::{Notify, mpsc};
    use waybill_runtime::Role;

    use super::*;

    /// Far more than anything here takes: only a test that fails waits for it.
    const WAIT_SECONDS_MAX: u64 = 20;

    const AMPLE: Bounds = Bounds {
        connections_max: 8,
        header_timeout: Duration::from_secs(WAIT_SECONDS_MAX),
        stall_timeout: Duration::from_secs(WAIT_SECONDS_MAX),
    };

    const WHOLE: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

    /// A listener on these bounds, and what ends it.
    async fn listening(
        router: Router,
        bounds: Bounds,
        health: Health,
    ) -> (SocketAddr, CancellationToken, tokio::task::JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, shutdown) = (listener.local_addr().unwrap(), CancellationToken::new());
        let token = shutdown.clone();
        let serving = tokio::spawn(async move {
            let open = serve(&listener, &router, bounds, &health, &token).await;
            drain(open).await;
        });
        (address, shutdown, serving)
    }

    /// Everything that comes until the other side closes.
    async fn rest(stream: &mut TcpStream) -> String {
        let mut bytes = Vec::new();
        let read = stream.read_to_end(&mut bytes);
        let _ =
            tokio::time::timeout(Duration::from_secs(WAIT_SECONDS_MAX), read).await.expect("it is closed");
        String::from_utf8_lossy(&bytes).into_owned()
    }

    async fn sent(address: SocketAddr, bytes: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        stream
    }

    #[tokio::test]
    async fn a_head_that_is_only_half_sent_and_a_connection_that_says_nothing_are_closed() {
        let router = Router::new().route("/", get(async || "whole"));
        let bounds = Bounds { header_timeout: Duration::from_millis(50), ..AMPLE };
        let (address, _shutdown, _serving) = listening(router, bounds, Health::new(Role::Api)).await;

        let mut half = sent(address, b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ").await;
        let mut silent = sent(address, b"").await;

        assert!(!rest(&mut half).await.contains("whole"));
        assert_eq!(rest(&mut silent).await, "");
        assert!(
            rest(&mut sent(address, WHOLE).await).await.ends_with("whole"),
            "others are answered all the same"
        );
    }

    #[tokio::test]
    async fn a_caller_that_takes_nothing_of_its_answer_is_left_and_its_place_is_free() {
        /// More than the buffers of both ends hold.
        const ANSWER_BYTES: usize = 64 * 1024 * 1024;
        let router = Router::new().route("/", get(async || vec![b'x'; ANSWER_BYTES]));
        let bounds = Bounds { connections_max: 1, stall_timeout: Duration::from_millis(50), ..AMPLE };
        let (address, _shutdown, _serving) = listening(router, bounds, Health::new(Role::Api)).await;

        let mut stalled = sent(address, WHOLE).await;
        let mut next = sent(address, WHOLE).await;

        assert!(rest(&mut next).await.len() > ANSWER_BYTES, "the next one has the only place");
        assert!(rest(&mut stalled).await.len() < ANSWER_BYTES, "the one that stood still was left");
    }

    #[tokio::test]
    async fn more_connections_than_the_bound_wait_until_one_is_closed() {
        let inside = Arc::new(AtomicUsize::new(0));
        let (entered, mut entries) = mpsc::unbounded_channel();
        let leave = Arc::new(Notify::new());
        let waiting = leave.clone();
        let router = Router::new().route(
            "/",
            get(async move || {
                entered.send(inside.fetch_add(1, Ordering::SeqCst)).unwrap();
                waiting.notified().await;
                inside.fetch_sub(1, Ordering::SeqCst);
                "whole"
            }),
        );
        let bounds = Bounds { connections_max: 1, ..AMPLE };
        let health = Health::new(Role::Api);
        let (address, _shutdown, _serving) = listening(router, bounds, health.clone()).await;

        let mut first = sent(address, WHOLE).await;
        assert_eq!(entries.recv().await, Some(0));
        let mut second = sent(address, WHOLE).await;
        while !format!("{:?}", health.report()).contains(CONNECTIONS) {
            tokio::task::yield_now().await;
        }
        leave.notify_one();
        assert!(rest(&mut first).await.ends_with("whole"));
        assert_eq!(entries.recv().await, Some(0), "nobody else is inside");
        leave.notify_one();
        assert!(rest(&mut second).await.ends_with("whole"));
    }

    #[tokio::test]
    async fn the_end_lets_a_request_that_is_under_way_be_answered() {
        let (entered, mut entries) = mpsc::unbounded_channel();
        let leave = Arc::new(Notify::new());
        let waiting = leave.clone();
        let router = Router::new().route(
            "/",
            get(async move || {
                entered.send(()).unwrap();
                waiting.notified().await;
                "whole"
            }),
        );
        let (address, shutdown, serving) = listening(router, AMPLE, Health::new(Role::Api)).await;
        let mut asked = sent(address, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
        entries.recv().await.unwrap();

        shutdown.cancel();
        leave.notify_one();

        assert!(rest(&mut asked).await.ends_with("whole"));
        serving.await.unwrap();
    }
}
