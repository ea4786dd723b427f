//! Dates and times over the whole range of Postgres, in ISO 8601's characters or in Postgres' own.
//!
//! Years before 1 AD are written as Postgres writes them, with ` BC` at the end, and years of more than four digits with all
//! of them and no sign, so that Postgres reads every text back as the value that it was.

use super::{Fault, fixed, two_digits};

/// From 1970-01-01 to 2000-01-01, where Postgres counts from.
pub(crate) const EPOCH_DAYS: i32 = 10_957;
/// The same in microseconds.
pub(crate) const EPOCH_MICROS: i64 = EPOCH_DAYS as i64 * DAY_MICROS;
/// A day's microseconds.
pub(crate) const DAY_MICROS: i64 = 86_400_000_000;

/// Which characters a time is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// `2026-01-31T13:05:59.100000Z`, `13:05:59.100000+02:00`.
    Iso8601,
    /// What Postgres' output functions write with `DateStyle` ISO and the time zone UTC: `2026-01-31 13:05:59.1+00`,
    /// `13:05:59.1+02`.
    Postgres,
}

/// A place for the longest of these texts: a year of 7 digits, a time, a zone with seconds, ` BC`.
#[derive(Debug)]
pub(crate) struct Text {
    bytes: [u8; 48],
    length: usize,
}

impl Text {
    const EMPTY: Self = Self { bytes: [0; 48], length: 0 };

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    fn of(bytes: &[u8]) -> Self {
        let mut text = Self::EMPTY;
        text.push(bytes);
        text
    }

    fn two(&mut self, number: i64, after: u8) {
        let [tens, ones] = two_digits(small(number));
        self.push(&[tens, ones, after]);
    }

    /// The date without its era, which goes to the end.
    fn date(&mut self, days: i64) -> bool {
        let (year, month, day) = civil(days + i64::from(EPOCH_DAYS));
        let before_christ = year < 1;
        let year = if before_christ { 1 - year } else { year };
        match year {
            0..=9_999 => {
                self.push(&two_digits(small(year / 100)));
                self.two(year % 100, b'-');
            }
            _ => {
                self.push(itoa::Buffer::new().format(year).as_bytes());
                self.push(b"-");
            }
        }
        self.two(month, b'-');
        self.push(&two_digits(small(day)));
        before_christ
    }

    /// `24:00:00` is a time of Postgres, too.
    fn time(&mut self, micros: i64, style: Style) {
        let (seconds, fraction) = (micros / 1_000_000, micros % 1_000_000);
        self.two(seconds / 3_600, b':');
        self.two(seconds / 60 % 60, b':');
        self.two(seconds % 60, b'.');
        self.fraction(fraction);
        if style == Style::Postgres {
            let digits = self.as_bytes().iter().rev().take_while(|digit| **digit == b'0').count();
            // Without a digit there is no point either.
            self.length -= if fraction == 0 { 7 } else { digits };
        }
    }

    /// Six digits.
    fn fraction(&mut self, fraction: i64) {
        self.push(&two_digits(small(fraction / 10_000)));
        self.push(&two_digits(small(fraction / 100 % 100)));
        self.push(&two_digits(small(fraction % 100)));
    }

    fn era(&mut self, before_christ: bool) {
        if before_christ {
            self.push(b" BC");
        }
    }
}

/// The caller has bounded it to two digits.
fn small(number: i64) -> u8 {
    u8::try_from(number).unwrap_or(0)
}

/// Year (astronomical: 0 is 1 BC), month and day of a day since 1970-01-01, in the Gregorian calendar that goes on into the
/// past. Counted in eras of 400 years that begin on the first of March, so that the leap day is a year's last.
fn civil(days: i64) -> (i64, i64, i64) {
    let from_march = days + 719_468;
    let era = from_march.div_euclid(146_097);
    let of_era = from_march.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

/// The days of a `date` since 2000-01-01, or which infinity it is.
pub(crate) fn date(bytes: &[u8]) -> Result<Result<i32, &'static str>, Fault> {
    Ok(match i32::from_be_bytes(fixed(bytes)?) {
        i32::MAX => Err("infinity"),
        i32::MIN => Err("-infinity"),
        days => Ok(days),
    })
}

/// The microseconds of a `timestamp` since 2000-01-01, or which infinity it is.
pub(crate) fn timestamp(bytes: &[u8]) -> Result<Result<i64, &'static str>, Fault> {
    Ok(match i64::from_be_bytes(fixed(bytes)?) {
        i64::MAX => Err("infinity"),
        i64::MIN => Err("-infinity"),
        micros => Ok(micros),
    })
}

/// The microseconds of a `time` since midnight.
pub(crate) fn time(bytes: &[u8]) -> Result<i64, Fault> {
    let micros = i64::from_be_bytes(fixed(bytes)?);
    if (0..=DAY_MICROS).contains(&micros) {
        Ok(micros)
    } else {
        Err(Fault::Malformed("a time is not of a day"))
    }
}

/// `2026-01-31`, `0044-03-15 BC`, `infinity`.
pub(crate) fn date_text(bytes: &[u8]) -> Result<Text, Fault> {
    let mut text = Text::EMPTY;
    match date(bytes)? {
        Ok(days) => {
            let before_christ = text.date(i64::from(days));
            text.era(before_christ);
        }
        Err(infinity) => text = Text::of(infinity.as_bytes()),
    }
    Ok(text)
}

/// A `timestamp`, or with a zone a point in time: both lie alike on the wire.
pub(crate) fn timestamp_text(bytes: &[u8], has_zone: bool, style: Style) -> Result<Text, Fault> {
    let mut text = Text::EMPTY;
    match timestamp(bytes)? {
        Ok(micros) => {
            let before_christ = text.date(micros.div_euclid(DAY_MICROS));
            let (between, zone): (_, &[u8]) = match style {
                Style::Iso8601 => (b"T", b"Z"),
                Style::Postgres => (b" ", b"+00"),
            };
            text.push(between);
            text.time(micros.rem_euclid(DAY_MICROS), style);
            text.push(if has_zone { zone } else { b"" });
            text.era(before_christ);
        }
        Err(infinity) => text = Text::of(infinity.as_bytes()),
    }
    Ok(text)
}

/// A `time`.
pub(crate) fn time_text(bytes: &[u8], style: Style) -> Result<Text, Fault> {
    let mut text = Text::EMPTY;
    text.time(time(bytes)?, style);
    Ok(text)
}

/// A `timetz`, the zone with seconds where it has some.
pub(crate) fn time_with_zone_text(bytes: &[u8], style: Style) -> Result<Text, Fault> {
    /// Postgres takes no zone of 16 hours or more.
    const ZONE_SECONDS_MAX: u32 = 16 * 3_600;

    let bytes: [u8; 12] = fixed(bytes)?;
    let (of_day, zone) = bytes.split_at(8);
    let mut text = Text::EMPTY;
    text.time(time(of_day)?, style);
    // On the wire a zone east of Greenwich is negative.
    let west = i32::from_be_bytes(fixed(zone)?);
    if west.unsigned_abs() >= ZONE_SECONDS_MAX {
        return Err(Fault::Malformed("a time zone is none on earth"));
    }
    let seconds = i64::from(west.unsigned_abs());
    text.push(if west <= 0 { b"+" } else { b"-" });
    text.push(&two_digits(small(seconds / 3_600)));
    let (minutes, seconds) = (seconds / 60 % 60, seconds % 60);
    if style == Style::Iso8601 || minutes != 0 || seconds != 0 {
        text.push(b":");
        text.push(&two_digits(small(minutes)));
    }
    if seconds != 0 {
        text.push(b":");
        text.push(&two_digits(small(seconds)));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &Text) -> &str {
        std::str::from_utf8(text.as_bytes()).expect("ASCII")
    }

    #[test]
    fn every_day_of_an_era_follows_its_eve() {
        let (mut year, mut month, mut day) = civil(-719_468 - 146_097);
        for days in -719_467 - 146_097..=-719_468 + 146_097 {
            let next = civil(days);
            let same_month = next == (year, month, day + 1);
            let next_month = day >= 28 && next == (year, month + 1, 1);
            assert!(same_month || next_month || next == (year + 1, 1, 1) && (month, day) == (12, 31));
            (year, month, day) = next;
        }
        assert_eq!(civil(0), (1970, 1, 1));
    }

    #[test]
    fn the_ends_of_postgres_range_are_written_as_it_reads_them() {
        let date = |days: i32| date_text(&days.to_be_bytes()).expect("a date");
        assert_eq!(written(&date(0)), "2000-01-01");
        assert_eq!(written(&date(-2_451_545)), "4714-11-24 BC");
        assert_eq!(written(&date(2_145_031_948)), "5874897-12-31");
        assert_eq!(written(&date(-730_119)), "0001-01-01");
        assert_eq!(written(&date(-730_120)), "0001-12-31 BC");
        assert_eq!([written(&date(i32::MAX)), written(&date(i32::MIN))], ["infinity", "-infinity"]);
        let timestamp =
            |micros: i64| timestamp_text(&micros.to_be_bytes(), true, Style::Iso8601).expect("a timestamp");
        assert_eq!(written(&timestamp(-1)), "1999-12-31T23:59:59.999999Z");
        assert_eq!(written(&timestamp(9_223_371_331_199_999_999)), "294276-12-31T23:59:59.999999Z");
        assert_eq!(written(&timestamp(-211_813_488_000_000_000)), "4714-11-24T00:00:00.000000Z BC");
    }

    #[test]
    fn a_zone_has_seconds_where_it_needs_them() {
        let of = |micros: i64, west: i32| {
            let bytes = [micros.to_be_bytes().as_slice(), &west.to_be_bytes()].concat();
            time_with_zone_text(&bytes, Style::Iso8601).map(|text| written(&text).to_owned())
        };
        assert_eq!(of(0, -7_200).as_deref(), Ok("00:00:00.000000+02:00"));
        assert_eq!(of(DAY_MICROS, 9_015).as_deref(), Ok("24:00:00.000000-02:30:15"));
        assert_eq!(of(1, 0).as_deref(), Ok("00:00:00.000001+00:00"));
        assert!(of(0, 57_600).is_err() && of(0, i32::MIN).is_err() && of(DAY_MICROS + 1, 0).is_err());
    }
}
