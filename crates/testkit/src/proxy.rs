//! A network before Postgres that loses one message, or everything from now on without a word.

use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::{JoinHandle, JoinSet};
use url::Url;

use crate::bounded::within;
use crate::database::{TestDatabase, parse};

const BUFFER_BYTES: usize = 64 * 1024;

/// What is lost, once, of the next message that holds the bytes it is armed with. The connection breaks off with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The message: the server never sees it.
    Message,
    /// The answer: the server has done what was asked, and the client does not hear of it.
    Answer,
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
    /// How often it was cut: a connection of before a cut carries nothing any more.
    cuts: AtomicU32,
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

    /// From now on the connections that there are carry nothing any more, and neither side is told. New ones do.
    pub fn cut(&self) {
        self.fate.cuts.fetch_add(1, Ordering::SeqCst);
    }

    /// Waits until that is lost and its connection is broken off.
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

    /// Goes on for a connection that was made after so many cuts, unless there was another.
    async fn carried(&self, cuts: u32) {
        if self.cuts.load(Ordering::SeqCst) != cuts {
            pending::<()>().await;
        }
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
    let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
    let (deaf, cuts) = (AtomicBool::new(false), fate.cuts.load(Ordering::SeqCst));
    tokio::select! {
        ended = ask(from_client, to_server, fate, cuts, &deaf) => ended,
        ended = answer(from_server, to_client, fate, cuts, &deaf) => ended,
    }
}

async fn ask(
    mut client: OwnedReadHalf,
    mut server: OwnedWriteHalf,
    fate: &Fate,
    cuts: u32,
    deaf: &AtomicBool,
) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let read = client.read(&mut buffer).await?;
        fate.carried(cuts).await;
        match fate.of(&buffer[..read]) {
            _ if read == 0 => return Ok(()),
            Some(Loss::Message) => {
                fate.struck.notify_one();
                return Ok(());
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
    cuts: u32,
    deaf: &AtomicBool,
) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let read = server.read(&mut buffer).await?;
        fate.carried(cuts).await;
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
