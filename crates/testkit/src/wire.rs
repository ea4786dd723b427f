//! A way to a broker over which answers can be lost, and requests changed so that the broker refuses them.

mod request;

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use self::request::Target;

const BUFFER_BYTES: usize = 64 * 1024;

/// More than any request of a test has.
const REQUEST_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What becomes of the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct State {
    /// The broker's answers are lost.
    is_deaf: bool,
    /// How often it was mended: every connection of before was broken off.
    mended: u32,
}

/// A port whose connections lead to a broker. Closed when this goes out of scope.
#[derive(Debug)]
pub struct Wire {
    port: u16,
    state: Arc<watch::Sender<State>>,
    refusals: Arc<Mutex<Refusals>>,
    accepting: JoinHandle<()>,
}

/// Why the broker refuses a produce request that it would take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It goes to a partition that there is not, like one that the broker does not have yet.
    NoSuchPartition,
    /// A bit of it was turned over on the way.
    Corrupt,
}

/// Which requests the broker is to refuse.
#[derive(Debug, Default)]
struct Refusals {
    why: Option<Refusal>,
    /// By topic and partition, those that had their turn.
    refused: HashSet<(Vec<u8>, i32)>,
}

impl Refusals {
    /// Changes a request, if it is the first one of its partition, so that it is refused.
    fn meet(&mut self, request: &mut [u8]) {
        let Some((why, target)) = self.why.zip(Target::of(request)) else { return };
        if self.refused.insert((target.topic.clone(), target.partition)) {
            match why {
                Refusal::NoSuchPartition => target.lead_astray(request),
                Refusal::Corrupt => Target::corrupt(request),
            }
        }
    }
}

/// A wire that leads nowhere yet.
#[derive(Debug)]
pub(crate) struct LooseEnd(watch::Sender<Option<u16>>);

impl LooseEnd {
    /// Whoever comes is led to this port from now on.
    pub(crate) fn leads_to(self, port: u16) {
        self.0.send_replace(Some(port));
    }
}

impl Wire {
    pub(crate) async fn open() -> (Self, LooseEnd) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap_or_else(|error| panic!("{error}"));
        let port = listener.local_addr().unwrap_or_else(|error| panic!("{error}")).port();
        let state = Arc::new(watch::Sender::new(State::default()));
        let (end, to) = watch::channel(None);
        let refusals = Arc::<Mutex<Refusals>>::default();
        let accepting = tokio::spawn(accept(listener, to, Arc::clone(&state), Arc::clone(&refusals)));
        (Self { port, state, refusals, accepting }, LooseEnd(end))
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Where it begins, as `bootstrap.servers` wants it.
    #[must_use]
    pub fn bootstrap(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// From now on the broker hears everything, and its answers are lost.
    pub fn lose_answers(&self) {
        self.state.send_modify(|state| state.is_deaf = true);
    }

    /// From now on the broker refuses each partition's next produce request, and takes what comes behind it.
    pub fn refuse_first(&self, why: Refusal) {
        *self.refusals() = Refusals { why: Some(why), refused: HashSet::new() };
    }

    /// How many it refused since.
    #[must_use]
    pub fn refused(&self) -> usize {
        self.refusals().refused.len()
    }

    fn refusals(&self) -> MutexGuard<'_, Refusals> {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Breaks off every connection, and lets new ones through.
    pub fn mend(&self) {
        self.state.send_modify(|state| *state = State { is_deaf: false, mended: state.mended + 1 });
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(
    listener: TcpListener,
    to: watch::Receiver<Option<u16>>,
    state: Arc<watch::Sender<State>>,
    refusals: Arc<Mutex<Refusals>>,
) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        let (mut to, state, refusals) = (to.clone(), state.subscribe(), Arc::clone(&refusals));
        // However a connection ends, its client sees that.
        connections.spawn(async move {
            let port = *to.wait_for(Option::is_some).await.ok()?;
            forward(client, port?, state, &refusals).await.ok()
        });
    }
}

/// Forwards until one side ends or the wire is mended.
async fn forward(
    client: TcpStream,
    port: u16,
    state: watch::Receiver<State>,
    refusals: &Mutex<Refusals>,
) -> io::Result<()> {
    let server = TcpStream::connect(("127.0.0.1", port)).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let mut mending = state.clone();
    let begun = mending.borrow_and_update().mended;
    tokio::select! {
        asked = ask(from_client, to_server, refusals) => asked,
        answered = answer(from_server, to_client, &state) => answered,
        _ = mending.wait_for(|now| now.mended != begun) => Ok(()),
    }
}

/// Passes requests on, one after the other.
async fn ask(
    mut client: impl AsyncRead + Unpin,
    mut server: impl AsyncWrite + Unpin,
    refusals: &Mutex<Refusals>,
) -> io::Result<()> {
    loop {
        let mut length = [0; 4];
        client.read_exact(&mut length).await?;
        let bytes = usize::try_from(i32::from_be_bytes(length)).unwrap_or(usize::MAX);
        if bytes > REQUEST_BYTES_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut request = vec![0; length.len() + bytes];
        request[..length.len()].copy_from_slice(&length);
        client.read_exact(&mut request[length.len()..]).await?;
        refusals.lock().unwrap_or_else(PoisonError::into_inner).meet(&mut request[length.len()..]);
        server.write_all(&request).await?;
    }
}

async fn answer(
    mut server: impl AsyncRead + Unpin,
    mut client: impl AsyncWrite + Unpin,
    state: &watch::Receiver<State>,
) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let read = server.read(&mut buffer).await?;
        if read == 0 {
            return Ok(());
        }
        if !state.borrow().is_deaf {
            client.write_all(&buffer[..read]).await?;
        }
    }
}
