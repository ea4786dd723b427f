//! The stream of a COPY in binary (PostgreSQL, COPY, "Binary Format"), cut into whole rows however its pieces are cut.
//!
//! A row that is whole in its piece is handed on where it lies; only what a piece's end cuts is copied. Such a row is
//! looked through once, however many pieces it comes in.

use bytes::{Buf as _, BytesMut};

use crate::error::EncodeError;

const SIGNATURE: &[u8; 11] = b"PGCOPY\n\xff\r\n\0";
/// Signature, flags, and the length of what may follow them.
const HEADER_BYTES: usize = 19;
/// The longest value that Postgres makes.
const VALUE_BYTES_MAX: u32 = 1 << 30;

/// Cuts the stream into rows.
#[derive(Debug)]
pub(crate) struct Rows {
    columns: u16,
    place: Place,
    /// What a piece's end cut off.
    cut: BytesMut,
    rows: u64,
}

/// Where in the stream the first byte is that was not handed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Header,
    Row(Scan),
    End,
}

/// How far an incomplete row has been looked through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Scan {
    at: usize,
    fields: u16,
}

const START: Scan = Scan { at: 2, fields: 0 };

/// What begins at some place.
enum Next {
    Whole(usize),
    Part(Scan),
    Trailer,
}

impl Rows {
    pub(crate) fn new(columns: u16) -> Self {
        Self { columns, place: Place::Header, cut: BytesMut::new(), rows: 0 }
    }

    /// The whole rows so far.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Takes the next bytes and gives each row that is whole by them to `each`, with its number, from 1.
    pub(crate) fn feed(
        &mut self,
        piece: &[u8],
        mut each: impl FnMut(u64, Fields<'_>) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        if self.cut.is_empty() {
            let used = self.cut_rows(piece, &mut each)?;
            self.cut.extend_from_slice(&piece[used..]);
            return Ok(());
        }
        let mut cut = std::mem::take(&mut self.cut);
        cut.extend_from_slice(piece);
        let used = self.cut_rows(&cut, &mut each)?;
        cut.advance(used);
        self.cut = cut;
        Ok(())
    }

    /// Whether the stream ended as COPY ends it.
    pub(crate) fn finish(&self) -> Result<(), EncodeError> {
        if self.place == Place::End {
            return Ok(());
        }
        let problem = if self.cut.is_empty() { "its trailer is missing" } else { "in the middle of a row" };
        Err(EncodeError::CutStream { rows: self.rows, problem })
    }

    fn cut_rows(
        &mut self,
        bytes: &[u8],
        each: &mut impl FnMut(u64, Fields<'_>) -> Result<(), EncodeError>,
    ) -> Result<usize, EncodeError> {
        let mut used = 0;
        if self.place == Place::Header {
            let Some(length) = self.header(bytes)? else { return Ok(0) };
            used = length;
            self.place = Place::Row(START);
        }
        while let Place::Row(scan) = self.place {
            match self.next(&bytes[used..], scan)? {
                Next::Whole(length) => {
                    self.rows += 1;
                    each(self.rows, Fields { rest: &bytes[used + 2..used + length] })?;
                    used += length;
                    self.place = Place::Row(START);
                }
                Next::Part(scan) => {
                    self.place = Place::Row(scan);
                    return Ok(used);
                }
                Next::Trailer => {
                    used += 2;
                    self.place = Place::End;
                }
            }
        }
        if used < bytes.len() {
            return Err(self.malformed("something comes after its trailer"));
        }
        Ok(used)
    }

    /// The length of the header with its extension, once all of it is there.
    fn header(&self, bytes: &[u8]) -> Result<Option<usize>, EncodeError> {
        let begun = bytes.len().min(SIGNATURE.len());
        if bytes[..begun] != SIGNATURE[..begun] {
            return Err(self.malformed("it does not begin with the signature of a COPY in binary"));
        }
        let Some((header, rest)) = bytes.split_first_chunk::<HEADER_BYTES>() else { return Ok(None) };
        let [.., f1, f2, f3, f4, e1, e2, e3, e4] = *header;
        // The upper 16 bits are those that a reader must understand.
        if u32::from_be_bytes([f1, f2, f3, f4]) >> 16 != 0 {
            return Err(self.malformed("its header has a flag that is not known"));
        }
        let extension = u32::from_be_bytes([e1, e2, e3, e4]);
        if extension > VALUE_BYTES_MAX {
            return Err(self.malformed("the extension of its header is too long"));
        }
        let extension = extension as usize;
        Ok((rest.len() >= extension).then_some(HEADER_BYTES + extension))
    }

    fn next(&self, bytes: &[u8], mut scan: Scan) -> Result<Next, EncodeError> {
        let Some((count, _)) = bytes.split_first_chunk() else { return Ok(Next::Part(scan)) };
        match i16::from_be_bytes(*count) {
            -1 => return Ok(Next::Trailer),
            count if u16::try_from(count) == Ok(self.columns) => {}
            _ => return Err(self.malformed("a row has another number of columns than the statement")),
        }
        while scan.fields < self.columns {
            let Some(length) = bytes.get(scan.at..).and_then(<[u8]>::first_chunk) else {
                return Ok(Next::Part(scan));
            };
            let length = i32::from_be_bytes(*length);
            let length = match u32::try_from(length) {
                Ok(length) if length <= VALUE_BYTES_MAX => length as usize,
                _ if length == -1 => 0,
                _ => return Err(self.malformed("a value has a length that cannot be")),
            };
            if scan.at + 4 + length > bytes.len() {
                return Ok(Next::Part(scan));
            }
            scan = Scan { at: scan.at + 4 + length, fields: scan.fields + 1 };
        }
        Ok(Next::Whole(scan.at))
    }

    fn malformed(&self, problem: &'static str) -> EncodeError {
        EncodeError::MalformedStream { rows: self.rows, problem }
    }
}

/// The values of one whole row in their order.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// The next value, or NULL.
    #[inline]
    pub(crate) fn next_value(&mut self) -> Option<&'a [u8]> {
        let (length, rest) = self.rest.split_first_chunk()?;
        // What is negative is NULL: the row was looked through before.
        let Ok(length) = usize::try_from(i32::from_be_bytes(*length)) else {
            self.rest = rest;
            return None;
        };
        let (value, rest) = rest.split_at_checked(length)?;
        self.rest = rest;
        Some(value)
    }
}

#[cfg(test)]
mod tests;
