//! Files made of COPY's messages, and counted again.

use std::path::{Path, PathBuf};

use bytes::BytesMut;
use waybill_formats::{Compression, EncodeError, FileKind, Format, Plan, RowCounter};

/// Encodes pieces to a whole file.
pub(crate) fn encode<'a>(
    plan: &Plan,
    pieces: impl IntoIterator<Item = &'a [u8]>,
    rows_sent: u64,
) -> Result<Vec<u8>, EncodeError> {
    let mut encoder = plan.encoder()?;
    let (mut file, mut out) = (Vec::new(), BytesMut::new());
    for piece in pieces {
        encoder.write(piece, &mut out)?;
        file.extend_from_slice(&out.split());
    }
    let written = encoder.finish(rows_sent, &mut out)?;
    assert_eq!(written, rows_sent);
    file.extend_from_slice(&out);
    Ok(file)
}

/// Counts the rows of a file that is read back in pieces.
pub(crate) fn count(
    kind: FileKind,
    file: &[u8],
    piece_bytes: usize,
) -> Result<u64, waybill_formats::ReadBackError> {
    let mut counter = RowCounter::new(kind)?;
    for piece in file.chunks(piece_bytes) {
        counter.update(piece)?;
    }
    counter.finish()
}

/// Puts the file where a reader finds it, under a name that says what it is.
pub(crate) fn stored(name: &str, kind: FileKind, file: &[u8]) -> PathBuf {
    let format = match kind.format() {
        Format::Csv(_) => "csv",
        Format::Ndjson(_) => "ndjson",
        Format::Parquet(_) => "parquet",
    };
    let around = match kind.compression() {
        Compression::None => "",
        Compression::Gzip => ".gz",
        Compression::Zstd => ".zst",
    };
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.{format}{around}"));
    std::fs::write(&path, file).expect("the file is written");
    path
}
