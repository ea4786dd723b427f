//! The bytes of a COPY on their way into a file, and what is known of the file then: the same measure that is taken of it
//! when it is read back.

use std::fs::File;
use std::io::{self, Read};

use bytes::{Bytes, BytesMut};
use sha2::{Digest, Sha256};
use waybill_formats::{Encoder, FileKind, Plan, ReadBackError, RowCounter};
use waybill_store::candidate::Verified;

use crate::attempt_error::AttemptError;
use crate::off_thread;

/// How much of a file is read at once, and how often before other tasks may go on.
const BUFFER_BYTES: usize = 256 * 1024;
const BUFFERS_A_TURN: usize = 16;

/// Makes the file, piece by piece.
#[derive(Debug)]
pub(crate) struct Encoding {
    encoder: Encoder,
    out: BytesMut,
    digest: FileDigest,
}

/// What is ready of the file.
pub(crate) struct Encoded {
    /// What makes the rest.
    pub(crate) encoding: Encoding,
    /// The next bytes.
    pub(crate) bytes: Bytes,
}

impl Encoding {
    pub(crate) fn new(plan: &Plan) -> Result<Self, AttemptError> {
        let encoder = plan.encoder().map_err(AttemptError::Encode)?;
        Ok(Self { encoder, out: BytesMut::new(), digest: FileDigest::default() })
    }

    /// Takes the next bytes of the COPY.
    pub(crate) async fn take(mut self, rows: BytesMut) -> Result<Encoded, AttemptError> {
        off_thread::run(move || {
            self.encoder.write(&rows, &mut self.out).map_err(AttemptError::Encode)?;
            let bytes = self.ready();
            Ok(Encoded { encoding: self, bytes })
        })
        .await
    }

    /// Ends the file, if it has as many rows as the server sent. Gives its last bytes and what it holds.
    pub(crate) async fn finish(mut self, rows_sent: u64) -> Result<(Bytes, Verified), AttemptError> {
        off_thread::run(move || {
            let rows = self.encoder.finish(rows_sent, &mut self.out).map_err(AttemptError::Encode)?;
            let last = self.out.split().freeze();
            self.digest.update(&last);
            Ok((last, self.digest.finish(rows)))
        })
        .await
    }

    /// The rows so far.
    pub(crate) fn rows(&self) -> i64 {
        saturated(self.encoder.rows())
    }

    fn ready(&mut self) -> Bytes {
        let bytes = self.out.split().freeze();
        self.digest.update(&bytes);
        bytes
    }
}

/// Measures a file that is read back.
#[derive(Debug)]
pub(crate) struct ReadBack {
    counter: Result<RowCounter, ReadBackError>,
    digest: FileDigest,
}

impl ReadBack {
    pub(crate) fn new(kind: FileKind) -> Self {
        Self { counter: RowCounter::new(kind), digest: FileDigest::default() }
    }

    /// Takes the next bytes of the file. Bytes that are none of such a file are digested all the same: that they are not
    /// what was written says more than that they cannot be read.
    pub(crate) async fn take(mut self, bytes: BytesMut) -> Result<Self, AttemptError> {
        off_thread::run(move || {
            self.update(&bytes);
            Ok(self)
        })
        .await
    }

    /// Takes a whole file of this machine. `object_store` would change threads for every 8 KiB of it.
    pub(crate) async fn take_file(mut self, mut file: File) -> Result<Self, AttemptError> {
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            let (read, next, more) = off_thread::run(move || {
                for _ in 0..BUFFERS_A_TURN {
                    let length = file.read(&mut buffer).map_err(unreadable)?;
                    if length == 0 {
                        return Ok((self, (file, buffer), false));
                    }
                    self.update(&buffer[..length]);
                }
                Ok((self, (file, buffer), true))
            })
            .await?;
            if !more {
                return Ok(read);
            }
            self = read;
            (file, buffer) = next;
        }
    }

    fn update(&mut self, bytes: &[u8]) {
        self.digest.update(bytes);
        if let Ok(counter) = &mut self.counter
            && let Err(error) = counter.update(bytes)
        {
            self.counter = Err(error);
        }
    }

    /// Compares the whole file with what was written.
    pub(crate) async fn compare(self, written: Verified) -> Result<Verified, AttemptError> {
        off_thread::run(move || {
            let rows = self.counter.and_then(RowCounter::finish);
            same(&written, &self.digest.finish(0), rows)?;
            Ok(written)
        })
        .await
    }
}

fn unreadable(error: io::Error) -> AttemptError {
    AttemptError::Objects(object_store::Error::Generic { store: "LocalFileSystem", source: error.into() })
}

fn same(written: &Verified, read: &Verified, rows: Result<u64, ReadBackError>) -> Result<(), AttemptError> {
    let what = if written.bytes != read.bytes {
        "size"
    } else if written.sha256 != read.sha256 {
        "sha256"
    } else if written.rows != saturated(rows.map_err(AttemptError::ReadBack)?) {
        "row count"
    } else {
        return Ok(());
    };
    Err(AttemptError::ObjectDiffers { what })
}

/// A running digest and size.
#[derive(Debug, Default)]
struct FileDigest {
    sha256: Sha256,
    bytes: u64,
}

impl FileDigest {
    fn update(&mut self, bytes: &[u8]) {
        self.sha256.update(bytes);
        self.bytes += bytes.len() as u64;
    }

    fn finish(self, rows: u64) -> Verified {
        Verified {
            rows: saturated(rows),
            bytes: saturated(self.bytes),
            sha256: self.sha256.finalize().into(),
        }
    }
}

/// Postgres counts in `bigint`; a file beyond it cannot exist.
fn saturated(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_the_measure_is_compared() {
        let written = Verified { rows: 2, bytes: 10, sha256: [1; 32] };
        assert!(same(&written, &written, Ok(2)).is_ok());
        let others = [
            ("size", Verified { bytes: 9, ..written.clone() }, 2),
            ("sha256", Verified { sha256: [2; 32], ..written.clone() }, 2),
            ("row count", written.clone(), 3),
        ];
        for (what, read, rows) in others {
            let error = same(&written, &read, Ok(rows)).expect_err("they differ");
            assert!(matches!(error, AttemptError::ObjectDiffers { what: found } if found == what));
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_first_of_all_another_one_than_was_written() {
        let written = Verified { rows: 2, bytes: 10, sha256: [1; 32] };
        let cut = || Err(ReadBackError::Cut { problem: "it ends in the middle of a line" });
        let other = Verified { sha256: [2; 32], ..written.clone() };
        assert!(matches!(same(&written, &other, cut()), Err(AttemptError::ObjectDiffers { what: "sha256" })));
        assert!(matches!(same(&written, &written, cut()), Err(AttemptError::ReadBack(_))));
    }
}
