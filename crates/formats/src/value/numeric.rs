//! `numeric`, digit by digit: never through a float, and never shorter or longer than Postgres has it.

use bytes::BytesMut;

use super::{Fault, two_digits};

/// How many decimal digits stand in one digit on the wire.
const GROUP_DIGITS: i32 = 4;
/// One more than the largest digit on the wire.
const GROUP_BASE: u16 = 10_000;

/// A `numeric` as it lies on the wire (PostgreSQL, `numeric_send`).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numeric<'a> {
    negative: bool,
    /// The weight of the first group: 10000 to this power.
    weight: i32,
    /// How many digits are shown behind the point.
    pub(crate) scale: u16,
    groups: &'a [u8],
}

/// Digits, or what a `numeric` can be besides.
pub(crate) type Special = &'static str;

impl<'a> Numeric<'a> {
    /// Reads one; the inner error is the text of what has no digits.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Result<Self, Special>, Fault> {
        const MALFORMED: Fault = Fault::Malformed("a numeric is none");
        let (head, groups) = bytes.split_at_checked(8).ok_or(MALFORMED)?;
        let field = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
        let negative = match field(4) {
            0x0000 => false,
            0x4000 => true,
            0xC000 => return Ok(Err("NaN")),
            0xD000 => return Ok(Err("Infinity")),
            0xF000 => return Ok(Err("-Infinity")),
            _ => return Err(MALFORMED),
        };
        let whole = groups.len() == usize::from(field(0)) * 2;
        if !whole || field(6) > 0x3FFF || pairs(groups).any(|group| group >= GROUP_BASE) {
            return Err(MALFORMED);
        }
        let weight = i32::from(i16::from_be_bytes([head[2], head[3]]));
        Ok(Ok(Self { negative, weight, scale: field(6), groups }))
    }

    fn group(&self, at: i32) -> u16 {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        self.groups.chunks_exact(2).nth(at).map_or(0, |pair| u16::from_be_bytes([pair[0], pair[1]]))
    }

    /// Appends what Postgres' own output function writes.
    pub(crate) fn write(&self, out: &mut BytesMut) {
        if self.negative {
            out.extend_from_slice(b"-");
        }
        if self.weight < 0 {
            out.extend_from_slice(b"0");
        } else {
            let first = digits(self.group(0));
            let zeros = first.iter().take_while(|digit| **digit == b'0').count();
            out.extend_from_slice(&first[zeros.min(3)..]);
            for at in 1..=self.weight {
                out.extend_from_slice(&digits(self.group(at)));
            }
        }
        if self.scale > 0 {
            out.extend_from_slice(b".");
            let (mut left, mut at) = (usize::from(self.scale), self.weight + 1);
            while left > 0 {
                // Groups between the point and the first one on the wire have numbers below 0, and are zeros.
                let taken = left.min(4);
                out.extend_from_slice(&digits(self.group(at))[..taken]);
                (left, at) = (left - taken, at + 1);
            }
        }
    }

    /// The digits as one number, the point `scale` digits from its end.
    pub(crate) fn unscaled(&self, precision: u8, scale: u8) -> Result<i128, Fault> {
        const TOO_LONG: Fault = Fault::Unfit("a numeric has more digits than its column in the file");
        let mut unscaled = 0_i128;
        let mut exponent = self.weight * GROUP_DIGITS + i32::from(scale);
        for group in pairs(self.groups) {
            let group = i128::from(group);
            let power = exponent.unsigned_abs();
            let part = if group == 0 {
                0
            } else if exponent >= 0 {
                let factor = 10_i128.checked_pow(power).ok_or(TOO_LONG)?;
                group.checked_mul(factor).ok_or(TOO_LONG)?
            } else {
                // The last group can reach beyond the scale, with zeros only.
                let divisor = 10_i128.checked_pow(power).ok_or(TOO_LONG)?;
                if group % divisor != 0 {
                    return Err(TOO_LONG);
                }
                group / divisor
            };
            unscaled = unscaled.checked_add(part).ok_or(TOO_LONG)?;
            exponent -= GROUP_DIGITS;
        }
        if unscaled >= 10_i128.pow(u32::from(precision)) {
            return Err(TOO_LONG);
        }
        Ok(if self.negative { -unscaled } else { unscaled })
    }
}

fn pairs(groups: &[u8]) -> impl Iterator<Item = u16> {
    groups.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]))
}

fn digits(group: u16) -> [u8; 4] {
    let half = |number: u16| two_digits(u8::try_from(number).unwrap_or(0));
    let ([a, b], [c, d]) = (half(group / 100), half(group % 100));
    [a, b, c, d]
}

#[cfg(test)]
mod tests;
