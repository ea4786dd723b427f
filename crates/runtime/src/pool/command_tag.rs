//! Reads what the server itself says about a COPY off its connection: the driver takes the rows and drops the tag.
//!
//! Messages pass unchanged and uncopied; only their five-byte heads are looked at (PostgreSQL, section 55.7).

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, TlsConnect, TlsStream};

/// A head is a type and a length, which counts itself.
const HEAD_BYTES: usize = 5;
const LENGTH_BYTES: u32 = 4;

/// The longest tag that is kept; `COPY` and the longest number fit.
const TAG_BYTES_MAX: usize = 32;

/// No COPY has ended yet.
const NONE: u64 = u64::MAX;

/// How many rows the server says the latest COPY of a connection had; its clones share it.
#[derive(Debug, Clone)]
pub struct RowsCopied(Arc<AtomicU64>);

impl RowsCopied {
    fn none() -> Self {
        Self(Arc::new(AtomicU64::new(NONE)))
    }

    /// The rows of the latest COPY that ended on the connection. A COPY has ended once a later statement was answered.
    #[must_use]
    pub fn latest(&self) -> Option<u64> {
        Some(self.0.load(Ordering::Acquire)).filter(|rows| *rows != NONE)
    }
}

/// A connection's stream whose messages are followed.
pub(super) struct Followed<S> {
    stream: S,
    messages: Messages,
}

impl<S> Followed<S> {
    pub(super) fn new(stream: S) -> (Self, RowsCopied) {
        let rows = RowsCopied::none();
        (Self { stream, messages: Messages::new(rows.clone()) }, rows)
    }
}

/// Where in the server's stream of messages the next byte stands.
struct Messages {
    rows: RowsCopied,
    at: At,
    head: [u8; HEAD_BYTES],
    tag: Vec<u8>,
}

enum At {
    /// Before everything: the one byte that answers a request for TLS may come first.
    Start,
    Head {
        have: usize,
    },
    Body {
        left: u32,
        is_tag: bool,
    },
}

impl Messages {
    fn new(rows: RowsCopied) -> Self {
        Self { rows, at: At::Start, head: [0; HEAD_BYTES], tag: Vec::new() }
    }

    fn follow(&mut self, mut bytes: &[u8]) {
        while let [first, rest @ ..] = bytes {
            match self.at {
                // No server begins with a notice or a parameter: these letters are the answer about TLS.
                At::Start => {
                    self.at = At::Head { have: 0 };
                    if matches!(first, b'N' | b'S') {
                        bytes = rest;
                    }
                }
                At::Head { have } => {
                    let take = (HEAD_BYTES - have).min(bytes.len());
                    self.head[have..have + take].copy_from_slice(&bytes[..take]);
                    bytes = &bytes[take..];
                    self.at = At::Head { have: have + take };
                    if have + take == HEAD_BYTES {
                        self.begin();
                    }
                }
                At::Body { left, is_tag } => {
                    let take = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                    if is_tag && self.tag.len() + take <= TAG_BYTES_MAX {
                        self.tag.extend_from_slice(&bytes[..take]);
                    }
                    bytes = &bytes[take..];
                    let left = left - u32::try_from(take).unwrap_or(left);
                    self.at = At::Body { left, is_tag };
                    if left == 0 {
                        self.end(is_tag);
                    }
                }
            }
        }
    }

    fn begin(&mut self) {
        let [kind, length @ ..] = self.head;
        let left = u32::from_be_bytes(length).saturating_sub(LENGTH_BYTES);
        self.at = if left == 0 { At::Head { have: 0 } } else { At::Body { left, is_tag: kind == b'C' } };
    }

    fn end(&mut self, is_tag: bool) {
        self.at = At::Head { have: 0 };
        if is_tag {
            let text = std::str::from_utf8(&self.tag).unwrap_or_default().trim_end_matches('\0');
            if let Some(rows) = text.strip_prefix("COPY ").and_then(|rows| rows.parse().ok()) {
                self.rows.0.store(rows, Ordering::Release);
            }
            self.tag.clear();
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Followed<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(cx, buf))?;
        this.messages.follow(&buf.filled()[before..]);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Followed<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

impl<S: TlsStream + Unpin> TlsStream for Followed<S> {
    fn channel_binding(&self) -> ChannelBinding {
        self.stream.channel_binding()
    }
}

/// Makes TLS on the stream itself and follows what comes out of it.
pub(super) struct FollowedTls<C>(pub(super) C);

type Connecting<S, E> = Pin<Box<dyn Future<Output = Result<Followed<S>, E>> + Send>>;

impl<S, C> TlsConnect<Followed<S>> for FollowedTls<C>
where
    C: TlsConnect<S>,
    C::Future: Send + 'static,
    C::Stream: 'static,
{
    type Stream = Followed<C::Stream>;
    type Error = C::Error;
    type Future = Connecting<C::Stream, C::Error>;

    fn connect(self, followed: Followed<S>) -> Self::Future {
        let Followed { stream, messages } = followed;
        let connecting = self.0.connect(stream);
        Box::pin(
            async move { Ok(Followed { stream: connecting.await?, messages: Messages::new(messages.rows) }) },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{Messages, RowsCopied};

    fn message(kind: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).expect("short").to_be_bytes();
        [&[kind], &length[..], body].concat()
    }

    fn followed(stream: &[u8], piece_bytes: usize) -> Option<u64> {
        let rows = RowsCopied::none();
        let mut messages = Messages::new(rows.clone());
        stream.chunks(piece_bytes).for_each(|piece| messages.follow(piece));
        rows.latest()
    }

    #[test]
    fn the_tag_of_a_copy_is_found_however_the_stream_is_cut() {
        let row = message(b'd', b"COPY 7\0C\0\0\0\x0bCOPY 8\0");
        let stream = [
            message(b'R', &[0; 4]),
            message(b'H', &[0; 3]),
            row,
            message(b'c', b""),
            message(b'C', b"COPY 5000000\0"),
            message(b'C', b"COMMIT\0"),
            message(b'Z', b"I"),
        ]
        .concat();
        for piece_bytes in 1..=stream.len() {
            assert_eq!(followed(&stream, piece_bytes), Some(5_000_000), "pieces of {piece_bytes} B");
        }
    }

    #[test]
    fn an_answer_about_tls_is_no_message_and_without_a_copy_there_are_no_rows() {
        let copied = message(b'C', b"COPY 3\0");
        assert_eq!(followed(&[b"N".to_vec(), message(b'R', &[0; 4]), copied].concat(), 2), Some(3));
        assert_eq!(followed(&message(b'C', b"SELECT 3\0"), 3), None);
        assert_eq!(followed(&message(b'C', &[b'x'; 1000]), 7), None);
    }
}
