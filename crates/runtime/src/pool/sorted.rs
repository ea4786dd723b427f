//! Sorts what a server sends: the rows of a COPY go to their reader, everything else to the driver, unchanged.
//!
//! The driver would make a message of every row and pass each through a channel, which costs more than reading, encoding
//! and storing it; and it drops the tag in which the server says how many rows it sent. So its stream is read here first
//! (PostgreSQL, section 55.7). Deliberately absent: any other protocol knowledge. Whatever surprises is left to the driver.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, TlsConnect, TlsStream};

use super::handover::{Handover, PIECE_BYTES};

/// A head is a type and a length, which counts itself.
const HEAD_BYTES: usize = 5;
const LENGTH_BYTES: u32 = 4;

/// How much is asked of the stream at once.
const READ_BYTES: usize = 128 * 1024;

/// The longest tag that is kept; `COPY` and the longest number fit.
const TAG_BYTES_MAX: usize = 32;

/// A connection's stream.
pub(super) struct Sorted<S> {
    stream: S,
    read: Box<[u8]>,
    /// Up to where `read` is sorted, and up to where there is something.
    sorted: usize,
    filled: usize,
    messages: Messages,
}

impl<S> Sorted<S> {
    pub(super) fn new(stream: S, rows: Handover) -> Self {
        let read = vec![0; READ_BYTES].into_boxed_slice();
        Self { stream, read, sorted: 0, filled: 0, messages: Messages::new(rows) }
    }
}

/// What the bytes so far were, and what is to become of the next one.
struct Messages {
    at: At,
    head: [u8; HEAD_BYTES],
    tag: Vec<u8>,
    rows: Handover,
    /// Rows that were not handed over yet.
    piece: BytesMut,
    /// What the driver has not read yet.
    rest: BytesMut,
}

enum At {
    /// Before everything: the one byte that answers a request for TLS may come first.
    Start,
    Head {
        have: usize,
    },
    Row {
        left: usize,
    },
    Other {
        left: usize,
        is_tag: bool,
    },
}

impl Messages {
    fn new(rows: Handover) -> Self {
        Self {
            at: At::Start,
            head: [0; HEAD_BYTES],
            tag: Vec::new(),
            rows,
            piece: BytesMut::new(),
            rest: BytesMut::new(),
        }
    }

    /// Sorts bytes until there is a piece, or none is left. Gives how many it took.
    fn sort(&mut self, all: &[u8]) -> usize {
        let mut bytes = all;
        while !bytes.is_empty() && self.piece.len() < PIECE_BYTES {
            match self.at {
                // No server begins with a notice or a parameter: these letters are the answer about TLS.
                At::Start => {
                    self.at = At::Head { have: 0 };
                    if matches!(bytes[0], b'N' | b'S') {
                        self.rest.extend_from_slice(&bytes[..1]);
                        bytes = &bytes[1..];
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
                At::Row { left } => {
                    let take = left.min(bytes.len());
                    self.piece.extend_from_slice(&bytes[..take]);
                    bytes = &bytes[take..];
                    self.at = if take == left { At::Head { have: 0 } } else { At::Row { left: left - take } };
                }
                At::Other { left, is_tag } => {
                    let take = left.min(bytes.len());
                    self.rest.extend_from_slice(&bytes[..take]);
                    if is_tag && self.tag.len() + take <= TAG_BYTES_MAX {
                        self.tag.extend_from_slice(&bytes[..take]);
                    }
                    bytes = &bytes[take..];
                    self.at = At::Other { left: left - take, is_tag };
                    if take == left {
                        self.end(is_tag);
                    }
                }
            }
        }
        all.len() - bytes.len()
    }

    fn begin(&mut self) {
        let [kind, length @ ..] = self.head;
        let left = u32::from_be_bytes(length).checked_sub(LENGTH_BYTES);
        if let (b'd', Some(left)) = (kind, left)
            && self.rows.is_read()
        {
            if self.piece.capacity() == 0 {
                self.piece.reserve(PIECE_BYTES + READ_BYTES);
            }
            self.at = At::Row { left: bounded(left) };
            if left == 0 {
                self.at = At::Head { have: 0 };
            }
            return;
        }
        self.rest.extend_from_slice(&self.head);
        self.at = match left.unwrap_or(0) {
            0 => At::Head { have: 0 },
            left => At::Other { left: bounded(left), is_tag: kind == b'C' },
        };
    }

    fn end(&mut self, is_tag: bool) {
        self.at = At::Head { have: 0 };
        if is_tag {
            let text = std::str::from_utf8(&self.tag).unwrap_or_default().trim_end_matches('\0');
            if let Some(rows) = text.strip_prefix("COPY ").and_then(|rows| rows.parse().ok()) {
                self.rows.set_rows_copied(rows);
            }
            self.tag.clear();
        }
    }

    /// Hands over what is due: a whole piece, or what came before the driver's next message.
    fn poll_hand_over(&mut self, cx: &Context<'_>) -> Poll<()> {
        let is_due = self.piece.len() >= PIECE_BYTES || !self.rest.is_empty();
        if is_due && !self.piece.is_empty() {
            self.rows.poll_put(cx, &mut self.piece)
        } else {
            Poll::Ready(())
        }
    }
}

fn bounded(length: u32) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}

impl<S: AsyncRead + Unpin> AsyncRead for Sorted<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let Self { stream, read, sorted, filled, messages } = self.get_mut();
        loop {
            ready!(messages.poll_hand_over(cx));
            if !messages.rest.is_empty() {
                let take = messages.rest.len().min(buf.remaining());
                buf.put_slice(&messages.rest[..take]);
                messages.rest.advance(take);
                return Poll::Ready(Ok(()));
            }
            if sorted == filled {
                // What follows the answer about TLS is not this stream's any more.
                let bytes_max = if matches!(messages.at, At::Start) { 1 } else { READ_BYTES };
                let mut into = ReadBuf::new(&mut read[..bytes_max]);
                ready!(Pin::new(&mut *stream).poll_read(cx, &mut into))?;
                (*sorted, *filled) = (0, into.filled().len());
                if *filled == 0 {
                    return Poll::Ready(Ok(()));
                }
            }
            *sorted += messages.sort(&read[*sorted..*filled]);
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Sorted<S> {
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

impl<S: TlsStream + Unpin> TlsStream for Sorted<S> {
    fn channel_binding(&self) -> ChannelBinding {
        self.stream.channel_binding()
    }
}

/// Makes TLS on the stream itself and sorts what comes out of it.
pub(super) struct SortedTls<C>(pub(super) C);

type Connecting<S, E> = Pin<Box<dyn Future<Output = Result<Sorted<S>, E>> + Send>>;

impl<S, C> TlsConnect<Sorted<S>> for SortedTls<C>
where
    C: TlsConnect<S>,
    C::Future: Send + 'static,
    C::Stream: 'static,
{
    type Stream = Sorted<C::Stream>;
    type Error = C::Error;
    type Future = Connecting<C::Stream, C::Error>;

    fn connect(self, sorted: Sorted<S>) -> Self::Future {
        let Sorted { stream, messages, .. } = sorted;
        let connecting = self.0.connect(stream);
        Box::pin(async move { Ok(Sorted::new(connecting.await?, messages.rows)) })
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    fn message(kind: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).expect("short").to_be_bytes();
        [&[kind], &length[..], body].concat()
    }

    /// What becomes of a stream that comes in pieces of this size: the reader's, the driver's, and the rows of its tag.
    fn sorted(stream: &[u8], piece_bytes: usize, is_read: bool) -> (Vec<u8>, Vec<u8>, Option<u64>) {
        let rows = Handover::default();
        if is_read {
            rows.begin();
        }
        let mut messages = Messages::new(rows.clone());
        let cx = Context::from_waker(Waker::noop());
        let mut read = Vec::new();
        for mut piece in stream.chunks(piece_bytes) {
            while !piece.is_empty() {
                piece = &piece[messages.sort(piece)..];
                assert!(messages.poll_hand_over(&cx).is_ready());
                read.extend(rows.take(&cx).unwrap_or_default());
            }
        }
        assert!(messages.piece.is_empty(), "a message of the driver's came behind the last row");
        (read, messages.rest.to_vec(), rows.rows_copied())
    }

    fn a_copy() -> (Vec<u8>, Vec<u8>) {
        let row = message(b'd', b"COPY 7\0C\0\0\0\x0bCOPY 8\0");
        let before = [message(b'R', &[0; 4]), message(b'H', &[0; 3])].concat();
        let after =
            [message(b'c', b""), message(b'C', b"COPY 5000000\0"), message(b'C', b"COMMIT\0")].concat();
        let others = [before.clone(), after.clone()].concat();
        ([before, row.clone(), message(b'd', b""), row, after].concat(), others)
    }

    #[test]
    fn rows_go_to_their_reader_and_the_rest_to_the_driver_however_the_stream_is_cut() {
        let (stream, others) = a_copy();
        let rows = b"COPY 7\0C\0\0\0\x0bCOPY 8\0".repeat(2);
        for piece_bytes in 1..=stream.len() {
            let (read, rest, copied) = sorted(&stream, piece_bytes, true);
            assert_eq!(read, rows, "pieces of {piece_bytes} B");
            assert_eq!(rest, others, "pieces of {piece_bytes} B");
            assert_eq!(copied, Some(5_000_000), "pieces of {piece_bytes} B");
        }
    }

    #[test]
    fn without_a_reader_the_driver_gets_every_byte() {
        let (stream, _others) = a_copy();
        for piece_bytes in 1..=stream.len() {
            assert_eq!(sorted(&stream, piece_bytes, false).1, stream, "pieces of {piece_bytes} B");
        }
    }

    #[test]
    fn a_length_that_cannot_be_is_left_to_the_driver() {
        let stream = [message(b'R', &[0; 4]), vec![b'd', 0, 0, 0, 3], message(b'Z', b"I")].concat();
        assert_eq!(sorted(&stream, 4, true).1, stream);
    }

    #[test]
    fn an_answer_about_tls_is_no_message_and_without_a_copy_there_are_no_rows() {
        let copied = message(b'C', b"COPY 3\0");
        let stream = [b"N".to_vec(), message(b'R', &[0; 4]), copied].concat();
        assert_eq!(sorted(&stream, 2, true), (Vec::new(), stream, Some(3)));
        assert_eq!(sorted(&message(b'C', b"SELECT 3\0"), 3, true).2, None);
        assert_eq!(sorted(&message(b'C', &[b'x'; 1000]), 7, true).2, None);
    }

    #[test]
    fn a_row_longer_than_a_piece_comes_in_several() {
        let long = vec![b'x'; 3 * PIECE_BYTES];
        let stream = [message(b'd', &long), message(b'c', b"")].concat();
        let stream = [message(b'R', &[0; 4]), stream].concat();
        assert_eq!(sorted(&stream, READ_BYTES, true).0, long);
    }
}
