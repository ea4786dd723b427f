//! A network before Postgres that loses one message, or from now on without a word what one connection carries, or all of them.

use std::collections::HashSet;
use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::{JoinHandle, JoinSet};
use url::Url;

use crate::bounded::within;
use crate::database::{TestDatabase, parse};

const BUFFER_BYTES: usize = 64 * 1024;

/// What is lost, once, of the next message that holds the bytes it is armed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The message: the server never sees it. The connection breaks off with it.
    Message,
    /// The answer: the server has done what was asked, and the client does not hear of it. The connection breaks off.
    Answer,
    /// The message, and without a word everything that follows it on that connection.
    Silently,
}

/// Forwards bytes to a database until it is told to lose some. Closed when this goes out of scope.
#[derive(Debug)]
pub struct Proxy {
    url: String,
    fate: Arc<Fate>,
    accepting: JoinHandle<()>,
}

/// What all connections share.
#[derive(Debug, Default)]
struct Fate {
    armed: Mutex<Option<(Loss, Vec<u8>)>>,
    struck: Notify,
    /// How often everything was cut: a connection of before a cut carries nothing any more.
    cuts: AtomicU32,
    /// Connections that were cut, each by its port.
    severed: Mutex<HashSet<u16>>,
    /// Whether new connections carry nothing either.
    is_dark: AtomicBool,
}

/// What tells one connection from the others.
#[derive(Debug, Clone, Copy)]
struct Line {
    /// How many cuts there were when it was made.
    cuts: u32,
    /// The port from which the server sees it come.
    port: u16,
}

impl Proxy {
    /// A proxy before this database.
    ///
    /// # Panics
    /// When the address cannot be used or no port is free.
    pub async fn before(database: &TestDatabase) -> Self {
        let mut url = parse(&database.plain_url());
        let server = address_of(&url);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap_or_else(|error| panic!("{error}"));
        let address = listener.local_addr().unwrap_or_else(|error| panic!("{error}"));
        move_to(&mut url, address);
        let fate = Arc::new(Fate::default());
        let accepting = tokio::spawn(accept(listener, server, Arc::clone(&fate)));
        Self { url: url.into(), fate, accepting }
    }

    /// The database's URL by way of this proxy, as `[database.<schema>] url` wants it.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Loses something of the next message that holds these bytes.
    pub fn lose(&self, loss: Loss, bytes: &[u8]) {
        *self.fate.armed.lock().unwrap_or_else(PoisonError::into_inner) = Some((loss, bytes.to_vec()));
    }

    /// From now on this connection carries nothing any more, and neither side is told. `client_port` is what the server's
    /// `pg_stat_activity` says of it.
    pub fn cut(&self, client_port: u16) {
        self.fate.severed().insert(client_port);
    }

    /// The same of every connection that there is. New ones carry what they are given.
    pub fn cut_all(&self) {
        self.fate.cuts.fetch_add(1, Ordering::SeqCst);
    }

    /// From now on no connection carries anything, whether it is there or made until [`Proxy::lighten`]; nobody is told.
    pub fn darken(&self) {
        self.fate.is_dark.store(true, Ordering::SeqCst);
        self.cut_all();
    }

    /// From now on new connections carry again what they are given. What was made in the dark still carries nothing.
    pub fn lighten(&self) {
        self.cut_all();
        self.fate.is_dark.store(false, Ordering::SeqCst);
    }

    /// Waits until that is lost and its connection is broken off, or carries nothing any more.
    pub async fn lost(&self) {
        within("the proxy to lose what it was told to", self.fate.struck.notified()).await;
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Fate {
    /// What is to be lost of these bytes. A message of a few bytes comes in one piece.
    fn of(&self, bytes: &[u8]) -> Option<Loss> {
        let mut armed = self.armed.lock().unwrap_or_else(PoisonError::into_inner);
        let (loss, wanted) = armed.take()?;
        if bytes.windows(wanted.len()).any(|window| window == wanted) {
            return Some(loss);
        }
        *armed = Some((loss, wanted));
        None
    }

    /// Goes on for a connection that was not cut.
    async fn carried(&self, line: Line) {
        let is_cut = self.is_dark.load(Ordering::SeqCst)
            || self.cuts.load(Ordering::SeqCst) != line.cuts
            || self.severed().contains(&line.port);
        if is_cut {
            pending::<()>().await;
        }
    }

    fn severed(&self) -> MutexGuard<'_, HashSet<u16>> {
        self.severed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn address_of(url: &Url) -> String {
    format!("{}:{}", url.host_str().unwrap_or("127.0.0.1"), url.port().unwrap_or(5432))
}

fn move_to(url: &mut Url, address: SocketAddr) {
    let moved = url.set_ip_host(address.ip()).and_then(|()| url.set_port(Some(address.port())));
    moved.unwrap_or_else(|()| panic!("{url} cannot have another address"));
    // What is encrypted could not be recognised.
    url.query_pairs_mut().append_pair("sslmode", "disable");
}

async fn accept(listener: TcpListener, server: String, fate: Arc<Fate>) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        let (server, fate) = (server.clone(), Arc::clone(&fate));
        // However a connection ends, its client sees that.
        connections.spawn(async move { forward(client, &server, &fate).await.ok() });
    }
}

/// Forwards until one side ends or the message to be lost has come. Both sides are closed then.
async fn forward(client: TcpStream, server: &str, fate: &Fate) -> io::Result<()> {
    let server = TcpStream::connect(server).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let line = Line { cuts: fate.cuts.load(Ordering::SeqCst), port: server.local_addr()?.port() };
    // The port may be that of an earlier connection again.
    fate.severed().remove(&line.port);
    let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
    let deaf = AtomicBool::new(false);
    tokio::select! {
        ended = ask(from_client, to_server, fate, line, &deaf) => ended,
        ended = answer(from_server, to_client, fate, line, &deaf) => ended,
    }
}

async fn ask(
    mut client: OwnedReadHalf,
    mut server: OwnedWriteHalf,
    fate: &Fate,
    line: Line,
    deaf: &AtomicBool,
) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let read = client.read(&mut buffer).await?;
        fate.carried(line).await;
        match fate.of(&buffer[..read]) {
            _ if read == 0 => return Ok(()),
            Some(Loss::Message) => {
                fate.struck.notify_one();
                return Ok(());
            }
            Some(Loss::Silently) => {
                fate.severed().insert(line.port);
                fate.struck.notify_one();
                fate.carried(line).await;
            }
            // Before the server has the message, so that not a byte of its answer can slip through.
            Some(Loss::Answer) => deaf.store(true, Ordering::SeqCst),
            None => {}
        }
        server.write_all(&buffer[..read]).await?;
    }
}

async fn answer(
    mut server: OwnedReadHalf,
    mut client: OwnedWriteHalf,
    fate: &Fate,
    line: Line,
    deaf: &AtomicBool,
) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let read = server.read(&mut buffer).await?;
        fate.carried(line).await;
        if deaf.load(Ordering::SeqCst) {
            fate.struck.notify_one();
            return Ok(());
        }
        if read == 0 {
            return Ok(());
        }
        client.write_all(&buffer[..read]).await?;
    }
}
