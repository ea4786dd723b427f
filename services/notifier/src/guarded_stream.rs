//! A connection that stops writing once the attempt's deadline has passed.
//!
//! The check stands right before every byte that leaves, so a process that was frozen in the middle of an attempt and
//! continued sends nothing more. What remains is the moment between this check and the kernel taking the bytes.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use lettre::transport::smtp::client::AsyncTokioStream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::boot_clock::Deadline;

/// What happened at the gate.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    wrote: AtomicBool,
    stopped: AtomicBool,
}

impl Gate {
    /// Whether any byte has left.
    pub(crate) fn wrote(&self) -> bool {
        self.wrote.load(Ordering::Acquire)
    }

    /// Whether a write was refused because the deadline had passed.
    pub(crate) fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }
}

/// A TCP connection behind a [`Gate`].
#[derive(Debug)]
pub(crate) struct GuardedStream {
    inner: TcpStream,
    deadline: Deadline,
    gate: Arc<Gate>,
}

impl GuardedStream {
    pub(crate) fn new(inner: TcpStream, deadline: Deadline, gate: Arc<Gate>) -> Self {
        Self { inner, deadline, gate }
    }
}

impl AsyncTokioStream for GuardedStream {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.inner.peer_addr()
    }
}

impl AsyncRead for GuardedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buf)
    }
}

impl AsyncWrite for GuardedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if self.deadline.has_passed() {
            self.gate.stopped.store(true, Ordering::Release);
            return Poll::Ready(Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "the attempt's deadline has passed",
            )));
        }
        let written = Pin::new(&mut self.inner).poll_write(cx, buf);
        if matches!(written, Poll::Ready(Ok(count)) if count > 0) {
            self.gate.wrote.store(true, Ordering::Release);
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    async fn write_by(deadline: Deadline) -> (io::Result<()>, Arc<Gate>, Vec<u8>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (mut server, _) = listener.accept().await.unwrap();
        let gate = Arc::new(Gate::default());
        let mut guarded = GuardedStream::new(client, deadline, Arc::clone(&gate));
        let written = guarded.write_all(b"EHLO").await;
        drop(guarded);
        let mut arrived = Vec::new();
        server.read_to_end(&mut arrived).await.unwrap();
        (written, gate, arrived)
    }

    #[tokio::test]
    async fn no_byte_passes_after_the_deadline() {
        let (written, gate, arrived) = write_by(Deadline::after(Duration::ZERO)).await;
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert!(gate.stopped() && !gate.wrote());
        assert!(arrived.is_empty());
    }

    #[tokio::test]
    async fn bytes_pass_before_the_deadline() {
        let (written, gate, arrived) = write_by(Deadline::after(Duration::from_secs(60))).await;
        written.unwrap();
        assert!(gate.wrote() && !gate.stopped());
        assert_eq!(arrived, b"EHLO");
    }
}
