//! Reads a compressed file back in pieces, and knows whether it is whole.

use std::io::{Error, ErrorKind, Write};

use flate2::write::GzDecoder;
use zstd::stream::raw::{Decoder, InBuffer, Operation as _, OutBuffer};

use crate::file_kind::Compression;

/// How much is decompressed at once.
const WINDOW_BYTES: usize = 128 * 1024;

/// Decompresses a stream with bounded buffers.
pub(crate) enum Decompressor {
    None,
    Gzip(Box<GzDecoder<Passing>>),
    Zstd(Frame),
}

/// Gives decompressed bytes on to whom the current call names.
pub(crate) struct Passing(Vec<u8>);

impl Write for Passing {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// One Zstandard frame.
pub(crate) struct Frame {
    decoder: Decoder<'static>,
    window: Vec<u8>,
    ended: bool,
}

impl Decompressor {
    pub(crate) fn new(compression: Compression) -> std::io::Result<Self> {
        Ok(match compression {
            Compression::None => Self::None,
            Compression::Gzip => Self::Gzip(Box::new(GzDecoder::new(Passing(Vec::new())))),
            Compression::Zstd => {
                Self::Zstd(Frame { decoder: Decoder::new()?, window: vec![0; WINDOW_BYTES], ended: false })
            }
        })
    }

    /// Takes the next bytes of the file and gives what is in them to `each`, in pieces.
    pub(crate) fn update(&mut self, piece: &[u8], mut each: impl FnMut(&[u8])) -> std::io::Result<()> {
        match self {
            Self::None => each(piece),
            Self::Gzip(decoder) => {
                let mut rest = piece;
                while !rest.is_empty() {
                    let taken = decoder.write(rest)?;
                    let passed = &mut decoder.get_mut().0;
                    each(passed);
                    passed.clear();
                    if taken == 0 {
                        return Err(trailing());
                    }
                    rest = &rest[taken..];
                }
            }
            Self::Zstd(frame) => frame.update(piece, each)?,
        }
        Ok(())
    }

    /// After the last byte: that the stream ended where it has to.
    pub(crate) fn finish(self, mut each: impl FnMut(&[u8])) -> std::io::Result<()> {
        match self {
            Self::None => Ok(()),
            Self::Gzip(decoder) => {
                each(&decoder.finish()?.0);
                Ok(())
            }
            Self::Zstd(Frame { ended: true, .. }) => Ok(()),
            Self::Zstd(_) => Err(Error::new(ErrorKind::UnexpectedEof, "the Zstandard frame does not end")),
        }
    }
}

impl Frame {
    fn update(&mut self, piece: &[u8], mut each: impl FnMut(&[u8])) -> std::io::Result<()> {
        let mut input = InBuffer::around(piece);
        loop {
            if self.ended && input.pos() < piece.len() {
                return Err(trailing());
            }
            let mut output = OutBuffer::around(self.window.as_mut_slice());
            let hint = self.decoder.run(&mut input, &mut output)?;
            let length = output.pos();
            each(&self.window[..length]);
            self.ended = hint == 0;
            // A full window may not be all that these bytes give.
            if input.pos() == piece.len() && (self.ended || length < WINDOW_BYTES) {
                return Ok(());
            }
        }
    }
}

fn trailing() -> Error {
    Error::new(ErrorKind::InvalidData, "something comes after the compressed stream")
}

impl std::fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decompressor").finish_non_exhaustive()
    }
}
