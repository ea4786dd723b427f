//! A way to a broker over which answers can be lost.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

const BUFFER_BYTES: usize = 64 * 1024;

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
    accepting: JoinHandle<()>,
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
        let accepting = tokio::spawn(accept(listener, to, Arc::clone(&state)));
        (Self { port, state, accepting }, LooseEnd(end))
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

async fn accept(listener: TcpListener, to: watch::Receiver<Option<u16>>, state: Arc<watch::Sender<State>>) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        let (mut to, state) = (to.clone(), state.subscribe());
        // However a connection ends, its client sees that.
        connections.spawn(async move {
            let port = *to.wait_for(Option::is_some).await.ok()?;
            forward(client, port?, state).await.ok()
        });
    }
}

/// Forwards until one side ends or the wire is mended.
async fn forward(client: TcpStream, port: u16, state: watch::Receiver<State>) -> io::Result<()> {
    let server = TcpStream::connect(("127.0.0.1", port)).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (mut from_client, to_client) = client.into_split();
    let (from_server, mut to_server) = server.into_split();
    let mut mending = state.clone();
    let begun = mending.borrow_and_update().mended;
    tokio::select! {
        asked = copy(&mut from_client, &mut to_server) => asked.map(|_| ()),
        answered = answer(from_server, to_client, &state) => answered,
        _ = mending.wait_for(|now| now.mended != begun) => Ok(()),
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
