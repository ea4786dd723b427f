//! Streams as COPY writes them, of rows with a number and a text, and the files that are made of them.

use bytes::BytesMut;
use waybill_formats::{
    Column, Compression, CsvOptions, EncodeError, FileKind, Format, NdjsonOptions, ParquetOptions, PgType,
    Plan, ReadBackError, RowCounter, TypeKind,
};

const COMPRESSIONS: [Compression; 3] = [Compression::None, Compression::Gzip, Compression::Zstd];

/// Each format in each compression that goes with it.
pub(crate) fn kinds() -> Vec<FileKind> {
    let around = |format| COMPRESSIONS.map(|around| FileKind::new(format, around).expect("they go together"));
    let inside = COMPRESSIONS.map(|codec| {
        FileKind::new(Format::Parquet(ParquetOptions { codec }), Compression::None)
            .expect("nothing around it")
    });
    let csv = around(Format::Csv(CsvOptions::default()));
    let ndjson = around(Format::Ndjson(NdjsonOptions::default()));
    [csv, ndjson, inside].into_iter().flatten().collect()
}

/// Whether a file of this kind says by itself that it has come to its end.
pub(crate) fn says_its_end(kind: FileKind) -> bool {
    matches!(kind.format(), Format::Parquet(_)) || kind.compression() != Compression::None
}

pub(crate) fn plan(kind: FileKind) -> Plan {
    let column = |name: &str, oid, pg_type: &str| Column {
        name: name.to_owned(),
        pg_type: PgType { oid, name: pg_type.to_owned(), kind: TypeKind::Base, typmod: -1, array: None },
        as_text: false,
    };
    Plan::new(&[column("id", 23, "integer"), column("note", 25, "text")], kind).expect("a plan")
}

/// The stream of these rows.
pub(crate) fn stream<'a>(rows: impl IntoIterator<Item = (i32, Option<&'a str>)>) -> Vec<u8> {
    let mut bytes = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0".to_vec();
    for (id, note) in rows {
        bytes.extend(2_i16.to_be_bytes());
        bytes.extend(4_i32.to_be_bytes());
        bytes.extend(id.to_be_bytes());
        match note {
            Some(note) => {
                bytes.extend(i32::try_from(note.len()).expect("short").to_be_bytes());
                bytes.extend(note.as_bytes());
            }
            None => bytes.extend((-1_i32).to_be_bytes()),
        }
    }
    bytes.extend((-1_i16).to_be_bytes());
    bytes
}

pub(crate) fn encode(kind: FileKind, stream: &[u8], rows_sent: u64) -> Result<Vec<u8>, EncodeError> {
    let mut encoder = plan(kind).encoder()?;
    let mut out = BytesMut::new();
    encoder.write(stream, &mut out)?;
    encoder.finish(rows_sent, &mut out)?;
    Ok(out.to_vec())
}

/// A file of as many rows, every third note of which is NULL.
pub(crate) fn file(kind: FileKind, rows: i32) -> Vec<u8> {
    let rows_sent = u64::try_from(rows).expect("rows");
    encode(kind, &notes(rows), rows_sent).expect("a whole stream")
}

pub(crate) fn notes(rows: i32) -> Vec<u8> {
    stream((0..rows).map(|id| (id, (id % 3 != 0).then_some("訂單 note"))))
}

pub(crate) fn count(kind: FileKind, file: &[u8]) -> Result<u64, ReadBackError> {
    let mut counter = RowCounter::new(kind)?;
    for piece in file.chunks(7) {
        counter.update(piece)?;
    }
    counter.finish()
}
