//! RFC 3339 and nothing more: jiff alone would also take ISO 8601's other forms, and offsets of more than a day.

use jiff::Timestamp;

/// What an instant can hold of a second's fraction.
const FRACTION_DIGITS_MAX: usize = 9;

/// A time as it was written, and the instant that it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventTime<'a> {
    text: &'a str,
    instant: Timestamp,
}

impl<'a> EventTime<'a> {
    /// RFC 3339's `date-time` (section 5.6) that a calendar has. A leap second is the second before it.
    pub fn parse(text: &'a str) -> Option<Self> {
        let (date_time, rest) = text.split_at_checked("2006-01-02T15:04:05".len())?;
        let (fraction, offset) = match rest.strip_prefix('.') {
            Some(behind) => {
                let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
                if digits == 0 {
                    return None;
                }
                behind.split_at(digits)
            }
            None => ("", rest),
        };
        if !has_shape(date_time, "0000-00-00T00:00:00") || !is_offset(offset) {
            return None;
        }
        // Later digits cannot change which instant of a nanosecond it is in.
        let kept = &fraction[..fraction.len().min(FRACTION_DIGITS_MAX)];
        let dot = if kept.is_empty() { "" } else { "." };
        let instant = format!("{date_time}{dot}{kept}{offset}").parse().ok()?;
        Some(Self { text, instant })
    }

    /// As it was written.
    pub const fn as_str(&self) -> &'a str {
        self.text
    }

    /// The instant, to the nanosecond.
    pub const fn instant(&self) -> Timestamp {
        self.instant
    }
}

fn is_offset(text: &str) -> bool {
    let hours_and_minutes = || {
        let hours = text.get(1..3)?.parse::<u8>().ok()?;
        let minutes = text.get(4..6)?.parse::<u8>().ok()?;
        Some(hours <= 23 && minutes <= 59)
    };
    has_shape(text, "Z")
        || (has_shape(text, "+00:00") || has_shape(text, "-00:00")) && hours_and_minutes().unwrap_or(false)
}

fn has_shape(text: &str, shape: &str) -> bool {
    text.len() == shape.len()
        && text.bytes().zip(shape.bytes()).all(|(byte, wanted)| match wanted {
            b'0' => byte.is_ascii_digit(),
            _ => byte.eq_ignore_ascii_case(&wanted),
        })
}

#[cfg(test)]
mod tests {
    use super::EventTime;

    fn instant(text: &str) -> Option<String> {
        EventTime::parse(text).map(|time| time.instant().to_string())
    }

    #[test]
    fn times_are_rfc_3339_and_nothing_else() {
        let noon = "2026-03-01T12:00:00Z";
        for good in [
            noon,
            "2026-03-01t12:00:00z",
            "2026-03-01T12:00:00.000Z",
            "2026-03-01T20:00:00+08:00",
            "2026-03-01T12:00:00-00:00",
            "2026-03-01T12:00:00.00000000000000000009Z",
        ] {
            assert_eq!(instant(good).as_deref(), Some(noon), "{good}");
        }
        assert_eq!(instant("2016-12-31T23:59:60Z").as_deref(), Some("2016-12-31T23:59:59Z"));
        for bad in [
            "2026-03-01",
            "2026-03-01T12:00:00",
            "2026-03-01T12:00Z",
            "2026-03-01 12:00:00Z",
            "2026-03-01T12:00:00.Z",
            "2026-03-01T12:00:00,5Z",
            "2026-03-01T12:00:00+0800",
            "2026-03-01T12:00:00+08",
            "2026-03-01T12:00:00+25:00",
            "2026-03-01T12:00:00+08:60",
            "2026-03-01T12:00:00+xx:00",
            "2026-03-01T12:00:00X",
            "2026-03-01T12:00:00Z[UTC]",
            "2026-02-30T12:00:00Z",
            "二〇二六年三月一日正午十二時",
        ] {
            assert_eq!(instant(bad), None, "{bad}");
        }
    }
}
