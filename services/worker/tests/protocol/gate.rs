//! A way to Postgres that a test can close: what is on it breaks off, and who comes is turned away.

use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use waybill_testkit::within;

/// The way. It is open at first.
pub(crate) struct Gate {
    address: SocketAddr,
    open: watch::Sender<bool>,
    turned_away: watch::Sender<u32>,
}

impl Gate {
    /// A gate before this server.
    pub(crate) async fn before(server: (String, u16)) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let address = listener.local_addr().expect("bound");
        let (open, turned_away) = (watch::Sender::new(true), watch::Sender::new(0));
        tokio::spawn(keep(listener, server, open.clone(), turned_away.clone()));
        Self { address, open, turned_away }
    }

    /// Where to come to.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Breaks off what is on the way, and turns away who comes from now on.
    pub(crate) fn close(&self) {
        self.open.send_replace(false);
    }

    /// Lets everybody pass again.
    pub(crate) fn open(&self) {
        self.open.send_replace(true);
    }

    /// Waits until so many were turned away in all.
    pub(crate) async fn has_turned_away(&self, count: u32) {
        let mut turned_away = self.turned_away.subscribe();
        let waited = within("somebody to be turned away", turned_away.wait_for(|so_far| *so_far >= count));
        waited.await.expect("the gate stands as long as its test");
    }
}

async fn keep(
    listener: TcpListener,
    server: (String, u16),
    open: watch::Sender<bool>,
    turned_away: watch::Sender<u32>,
) {
    while let Ok((mut client, _)) = listener.accept().await {
        if !*open.borrow() {
            drop(client);
            turned_away.send_modify(|count| *count += 1);
            continue;
        }
        let (server, mut open) = (server.clone(), open.subscribe());
        tokio::spawn(async move {
            let mut postgres = TcpStream::connect(server).await.expect("the test server answers");
            tokio::select! {
                _ended = tokio::io::copy_bidirectional(&mut client, &mut postgres) => {}
                _closed = open.wait_for(|open| !open) => {}
            }
        });
    }
}
