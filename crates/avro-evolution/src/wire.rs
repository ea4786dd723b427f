//! The bytes of Avro's binary encoding (Avro 1.12.0, "Binary Encoding"), one primitive at a time.
//!
//! Every length is held against what is left before anything is done with it. Stricter than Java in two places: a boolean is
//! 0 or 1, and a number that does not fit is an error instead of losing its upper bits.

use crate::decode_error::DecodeError;

/// Bytes that are being read.
#[derive(Debug, Clone)]
pub(crate) struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// How many bytes were read.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    pub(crate) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    #[inline]
    fn byte(&mut self) -> Result<u8, DecodeError> {
        let byte = *self.bytes.get(self.at).ok_or(DecodeError::EndOfInput { at: self.at })?;
        self.at += 1;
        Ok(byte)
    }

    #[inline]
    pub(crate) fn boolean(&mut self) -> Result<bool, DecodeError> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(DecodeError::InvalidBoolean { at: self.at - 1 }),
        }
    }

    #[inline]
    pub(crate) fn int(&mut self) -> Result<i32, DecodeError> {
        let at = self.at;
        let value = self.long()?;
        i32::try_from(value).map_err(|_out_of_range| DecodeError::InvalidNumber { at })
    }

    #[inline]
    pub(crate) fn long(&mut self) -> Result<i64, DecodeError> {
        let first = self.byte()?;
        if first < 0x80 {
            return Ok(unzigzag(u64::from(first)));
        }
        self.long_of_several(first)
    }

    fn long_of_several(&mut self, first: u8) -> Result<i64, DecodeError> {
        let at = self.at - 1;
        let mut value = u64::from(first & 0x7f);
        for shift in (7..70).step_by(7) {
            let byte = self.byte()?;
            // The tenth byte holds the one bit that is left.
            if shift == 63 && byte > 1 {
                return Err(DecodeError::InvalidNumber { at });
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(unzigzag(value));
            }
        }
        Err(DecodeError::InvalidNumber { at })
    }

    #[inline]
    pub(crate) fn float(&mut self) -> Result<f32, DecodeError> {
        self.array().map(f32::from_le_bytes)
    }

    #[inline]
    pub(crate) fn double(&mut self) -> Result<f64, DecodeError> {
        self.array().map(f64::from_le_bytes)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let found = rest.first_chunk().ok_or(DecodeError::EndOfInput { at: self.bytes.len() })?;
        self.at += N;
        Ok(*found)
    }

    /// So many bytes, borrowed.
    #[inline]
    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8], DecodeError> {
        if length > self.left() {
            return Err(DecodeError::EndOfInput { at: self.bytes.len() });
        }
        let found = &self.bytes[self.at..self.at + length];
        self.at += length;
        Ok(found)
    }

    /// A length, and as many bytes.
    #[inline]
    pub(crate) fn sized(&mut self) -> Result<&'a [u8], DecodeError> {
        let at = self.at;
        let length = self.long()?;
        let length =
            usize::try_from(length).map_err(|_negative| DecodeError::InvalidLength { at, length })?;
        if length > self.left() {
            return Err(DecodeError::InvalidLength { at, length: i64::try_from(length).unwrap_or(i64::MAX) });
        }
        self.take(length)
    }

    #[inline]
    pub(crate) fn text(&mut self) -> Result<&'a str, DecodeError> {
        let at = self.at;
        std::str::from_utf8(self.sized()?).map_err(|_no_utf8| DecodeError::InvalidUtf8 { at })
    }

    /// How many items the next block has, 0 where there is none, and how many bytes it has where that is written before it.
    #[inline]
    pub(crate) fn block(&mut self) -> Result<(usize, Option<usize>), DecodeError> {
        let at = self.at;
        let count = self.long()?;
        let invalid = DecodeError::InvalidBlock { at, count };
        let Ok(items) = usize::try_from(count) else {
            let size = self.long()?;
            let size = usize::try_from(size).ok().filter(|&size| size <= self.left());
            let (Ok(items), Some(size)) = (usize::try_from(count.unsigned_abs()), size) else {
                return Err(invalid);
            };
            return Ok((items, Some(size)));
        };
        Ok((items, None))
    }
}

#[inline]
fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

/// Appends a number in as few bytes as it needs.
#[inline]
pub(crate) fn put_long(out: &mut Vec<u8>, value: i64) {
    let mut value = ((value << 1) ^ (value >> 63)).cast_unsigned();
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends bytes after their length.
#[inline]
pub(crate) fn put_sized(out: &mut Vec<u8>, bytes: &[u8]) {
    // A slice is never longer than an `isize` says.
    put_long(out, bytes.len() as i64);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_as_they_went() {
        let near = |power: u32| [-1, 0, 1].map(|off| (1_i64 << power).wrapping_add(off));
        for value in (0..64).flat_map(near).flat_map(|value| [value, value.wrapping_neg()]) {
            let mut bytes = Vec::new();
            put_long(&mut bytes, value);
            let mut input = Input::new(&bytes);
            assert_eq!(input.long(), Ok(value));
            assert_eq!(input.left(), 0);
            assert_eq!(Input::new(&bytes).int().ok(), i32::try_from(value).ok());
        }
    }

    #[test]
    fn the_specifications_examples_are_these_bytes() {
        for (value, bytes) in [(0, &[0][..]), (-1, &[1]), (1, &[2]), (-64, &[0x7f]), (64, &[0x80, 1])] {
            let mut out = Vec::new();
            put_long(&mut out, value);
            assert_eq!(out, bytes);
        }
        let mut out = Vec::new();
        put_sized(&mut out, b"foo");
        assert_eq!(out, [6, 0x66, 0x6f, 0x6f]);
    }

    #[test]
    fn a_number_that_does_not_fit_and_one_that_does_not_end_are_errors() {
        assert_eq!(Input::new(&[0xff; 11]).long(), Err(DecodeError::InvalidNumber { at: 0 }));
        let too_large = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2];
        assert_eq!(Input::new(&too_large).long(), Err(DecodeError::InvalidNumber { at: 0 }));
        assert_eq!(Input::new(&[0xff, 0xff]).long(), Err(DecodeError::EndOfInput { at: 2 }));
        assert_eq!(
            Input::new(&[0x80, 0x80, 0x80, 0x80, 0x10]).int(),
            Err(DecodeError::InvalidNumber { at: 0 })
        );
        // Longer than need be, and still a number.
        assert_eq!(Input::new(&[0x82, 0x00]).int(), Ok(1));
    }

    #[test]
    fn a_block_with_its_size_is_as_legal_as_one_without() {
        assert_eq!(Input::new(&[4]).block(), Ok((2, None)));
        assert_eq!(Input::new(&[3, 4, 0, 0]).block(), Ok((2, Some(2))));
        let invalid = Err(DecodeError::InvalidBlock { at: 0, count: -2 });
        assert_eq!(Input::new(&[3, 6, 0, 0]).block(), invalid, "longer than what is left");
        assert_eq!(Input::new(&[3, 1]).block(), invalid, "a negative size");
    }
}
