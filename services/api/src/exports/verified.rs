//! A download that is checked while it goes out: a file that is not the one that was verified never arrives whole.
//!
//! The last part is held back until size and digest are known to be right. Otherwise the connection breaks off, which
//! a client that knows Content-Length sees, instead of a complete answer with wrong content.

use std::io;

use axum::body::Bytes;
use futures_util::stream::{BoxStream, Stream, StreamExt, try_unfold};
use sha2::{Digest, Sha256};

struct Passing {
    object: BoxStream<'static, object_store::Result<Bytes>>,
    digest: Sha256,
    held_back: Option<Bytes>,
    bytes_seen: u64,
    expected: Expected,
    is_right: bool,
}

/// What the file was when it was verified.
pub(super) struct Expected {
    /// Whose file it is, for the log.
    pub(super) export_id: String,
    /// Its size.
    pub(super) bytes: u64,
    /// Its digest.
    pub(super) sha256: Vec<u8>,
}

/// The object's bytes, all of them only if they are the expected ones.
pub(super) fn verified(
    object: BoxStream<'static, object_store::Result<Bytes>>,
    expected: Expected,
) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    let passing =
        Passing { object, digest: Sha256::new(), held_back: None, bytes_seen: 0, expected, is_right: false };
    try_unfold(passing, |mut passing| async move {
        while !passing.is_right {
            match passing.object.next().await {
                Some(Ok(part)) => {
                    passing.digest.update(&part);
                    passing.bytes_seen += part.len() as u64;
                    if let Some(ready) = passing.held_back.replace(part) {
                        return Ok(Some((ready, passing)));
                    }
                }
                Some(Err(error)) => return Err(passing.broken(&error.to_string())),
                None => return passing.end(),
            }
        }
        Ok(None)
    })
}

impl Passing {
    fn end(mut self) -> io::Result<Option<(Bytes, Self)>> {
        let sha256 = std::mem::take(&mut self.digest).finalize();
        if self.bytes_seen != self.expected.bytes || sha256[..] != self.expected.sha256[..] {
            return Err(self.broken("the object differs from what was verified"));
        }
        self.is_right = true;
        Ok(self.held_back.take().map(|last| (last, self)))
    }

    fn broken(&self, detail: &str) -> io::Error {
        tracing::error!(
            code = crate::codes::RESULT_MISSING,
            export_id = self.expected.export_id,
            bytes_seen = self.bytes_seen,
            bytes_expected = self.expected.bytes,
            detail,
            "a download was broken off"
        );
        io::Error::new(io::ErrorKind::InvalidData, "the result is not what was verified")
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;

    async fn download(sent: &[&'static [u8]], verified_content: &[u8]) -> (Vec<u8>, bool) {
        let parts: Vec<_> = sent.iter().map(|part| Ok(Bytes::from_static(part))).collect();
        let expected = Expected {
            export_id: String::new(),
            bytes: verified_content.len() as u64,
            sha256: Sha256::digest(verified_content).to_vec(),
        };
        let parts: Vec<io::Result<Bytes>> = verified(stream::iter(parts).boxed(), expected).collect().await;
        let whole = parts.iter().all(Result::is_ok);
        (parts.into_iter().filter_map(Result::ok).flatten().collect(), whole)
    }

    #[tokio::test]
    async fn the_verified_file_arrives_whole() {
        assert_eq!(download(&[b"id\n", b"1\n", b"2\n"], b"id\n1\n2\n").await, (b"id\n1\n2\n".to_vec(), true));
        assert_eq!(download(&[], b"").await, (Vec::new(), true));
    }

    #[tokio::test]
    async fn a_file_that_differs_lacks_its_end_and_ends_in_an_error() {
        assert_eq!(download(&[b"id\n", b"1\n", b"3\n"], b"id\n1\n2\n").await, (b"id\n1\n".to_vec(), false));
        assert_eq!(download(&[b"id\n"], b"id\n1\n").await, (Vec::new(), false));
        assert_eq!(download(&[], b"id\n1\n").await, (Vec::new(), false), "nothing is no file either");
    }
}
