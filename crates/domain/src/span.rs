//! Lengths of time as people write them: a whole number and one unit, such as `90s`, `30m`, `12h` or `7d`.

use jiff::SignedDuration;

/// The most digits of a length, far beyond any use.
pub const DIGITS_MAX: usize = 13;

const UNITS: [(char, i64); 4] = [('s', 1), ('m', 60), ('h', 60 * 60), ('d', 24 * 60 * 60)];

/// Reads a length of time. `None` for what is none, or is longer than a duration can be.
#[must_use]
pub fn parse(text: &str) -> Option<SignedDuration> {
    let (number, seconds) =
        UNITS.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(*unit)?, seconds)))?;
    if !(1..=DIGITS_MAX).contains(&number.len()) || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(SignedDuration::from_secs(number.parse::<i64>().ok()?.checked_mul(*seconds)?))
}

/// Writes a length of time with the largest unit that leaves no rest. Fractions of a second are dropped.
#[must_use]
pub fn write(length: SignedDuration) -> String {
    let seconds = length.as_secs();
    let fitting = UNITS.iter().rev().find(|(_, unit)| seconds != 0 && seconds % unit == 0);
    let (unit, length) = fitting.copied().unwrap_or(UNITS[0]);
    format!("{}{unit}", seconds / length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_read_as_it_is_written() {
        for (text, seconds) in [("90s", 90), ("30m", 1_800), ("12h", 43_200), ("7d", 604_800), ("0s", 0)] {
            let length = parse(text).expect("a length");
            assert_eq!((length.as_secs(), write(length)), (seconds, text.to_owned()));
        }
        assert_eq!(write(SignedDuration::from_secs(7_200)), "2h");
    }

    #[test]
    fn nothing_else_is_a_length() {
        for text in ["", "7", "d", "-1d", "+1d", "1.5h", "1 d", "7w", "PT1H", "12345678901234s"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
