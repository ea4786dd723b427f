//! One connection to a database that exports are read from.
//!
//! Made here, not by the driver, because the driver lets nobody look at its stream. Deliberately absent: a pool. An
//! attempt that is dropped in the middle of a COPY must end it at once, so its connection ends with it.

use std::io;
use std::ops::Deref;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use postgres_openssl::MakeTlsConnector;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_postgres::config::Host;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{CancelToken, Client, Config, Error};

use super::address::{CONNECT_TIMEOUT, KEEPALIVE_IDLE, KEEPALIVE_INTERVAL, KEEPALIVE_RETRIES};
use super::copy_out::CopyOut;
use super::error::PoolError;
use super::handover::Handover;
use super::sorted::{Sorted, SortedTls};

const DEFAULT_PORT: u16 = 5432;

/// A connection to a source. Dropping it closes it, and ends what the server is still doing for its COPY.
pub struct SourceConnection {
    client: Client,
    rows: Handover,
    connection: JoinHandle<()>,
    way: Way,
}

/// The way by which the server was reached.
#[derive(Clone)]
struct Way {
    host: Host,
    port: u16,
    tls: MakeTlsConnector,
}

impl SourceConnection {
    /// Runs a `COPY … TO STDOUT`. Use this one and not the driver's, which takes rows one by one.
    ///
    /// # Errors
    /// Postgres refused, or does not answer.
    pub async fn copy_out(&self, statement: &str) -> Result<CopyOut<'_>, Error> {
        CopyOut::begin(&self.client, &self.rows, statement).await
    }
}

impl Deref for SourceConnection {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Drop for SourceConnection {
    fn drop(&mut self) {
        self.connection.abort();
        // A server that sorts, or waits, would notice only when it next writes that nobody listens any more.
        if self.rows.is_under_way()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(cancel(self.client.cancel_token(), self.way.clone()));
        }
    }
}

/// Asks the server to end what the connection of that token is doing. Nobody waits for it: the statement's own timeout ends
/// it at last.
async fn cancel(token: CancelToken, way: Way) {
    let cancelling = tokio::time::timeout(CONNECT_TIMEOUT, async {
        let (stream, name) = open(&way.host, way.port).await.map_err(|error| error.to_string())?;
        let mut tls = way.tls.clone();
        let tls = MakeTlsConnect::<Socket>::make_tls_connect(&mut tls, name);
        let tls = tls.map_err(|error| error.to_string())?;
        token.cancel_query_raw(stream, tls).await.map_err(|error| error.to_string())
    });
    if let Ok(Err(error)) = cancelling.await {
        tracing::debug!(error, "a COPY that nobody reads any more could not be cancelled");
    }
}

/// Connects to the first of the address's hosts that lets us in.
pub(super) async fn connect(
    place: &str,
    config: &Config,
    tls: &MakeTlsConnector,
) -> Result<SourceConnection, PoolError> {
    let mut last = None;
    for (n, host) in config.get_hosts().iter().enumerate() {
        let port = config.get_ports().get(n).or(config.get_ports().first()).copied().unwrap_or(DEFAULT_PORT);
        let connecting = tokio::time::timeout(CONNECT_TIMEOUT, one(place, config, tls, host, port));
        match connecting.await {
            Ok(Ok(connection)) => return Ok(connection),
            Ok(Err(error)) => last = Some(error),
            Err(_elapsed) => {
                let limit_ms = CONNECT_TIMEOUT.as_millis();
                last = Some(PoolError::ConnectTimeout { place: place.to_owned(), limit_ms });
            }
        }
    }
    Err(last.unwrap_or_else(|| PoolError::HostMissing { place: place.to_owned() }))
}

async fn one(
    place: &str,
    config: &Config,
    tls: &MakeTlsConnector,
    host: &Host,
    port: u16,
) -> Result<SourceConnection, PoolError> {
    let (stream, name) = open(host, port)
        .await
        .map_err(|source| PoolError::Unreachable { place: place.to_owned(), source })?;
    let way = Way { host: host.clone(), port, tls: tls.clone() };
    let mut tls = tls.clone();
    let tls = MakeTlsConnect::<Socket>::make_tls_connect(&mut tls, name)
        .map_err(|source| PoolError::Tls { place: place.to_owned(), source })?;
    let rows = Handover::default();
    let (client, connection) = config
        .connect_raw(Sorted::new(stream, rows.clone()), SortedTls(tls))
        .await
        .map_err(|source| PoolError::Connect { place: place.to_owned(), source })?;
    // Why a connection ended is the next statement's error.
    let connection = tokio::spawn(async move { drop(connection.await) });
    Ok(SourceConnection { client, rows, connection, way })
}

/// The stream, and the name by which its certificate is judged.
async fn open(host: &Host, port: u16) -> io::Result<(Socket, &str)> {
    match host {
        Host::Tcp(name) => {
            let stream = TcpStream::connect((name.as_str(), port)).await?;
            stream.set_nodelay(true)?;
            SockRef::from(&stream).set_tcp_keepalive(&keepalive())?;
            Ok((Socket::Tcp(stream), name))
        }
        Host::Unix(folder) => {
            let stream = UnixStream::connect(folder.join(format!(".s.PGSQL.{port}"))).await?;
            Ok((Socket::Unix(stream), ""))
        }
    }
}

fn keepalive() -> TcpKeepalive {
    let [idle, interval]: [Duration; 2] = [KEEPALIVE_IDLE, KEEPALIVE_INTERVAL];
    TcpKeepalive::new().with_time(idle).with_interval(interval).with_retries(KEEPALIVE_RETRIES)
}

/// Either way to a server.
#[derive(Debug)]
enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_read(cx, buf),
            Self::Unix(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Unix(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_flush(cx),
            Self::Unix(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
