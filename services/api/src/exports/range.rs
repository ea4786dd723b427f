//! Which bytes of a file are wanted: one range of them (RFC 9110, section 14). Several at once are not served in parts; whoever
//! asks for them gets the whole, as the section lets a server do.

use axum::http::HeaderMap;
use axum::http::header::RANGE;

/// What is to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// All of it.
    Whole,
    /// From the first to the last of these bytes.
    Part { first: u64, last: u64 },
    /// Bytes that there are none of.
    Beyond,
}

/// What is wanted of a file of this size.
pub(super) fn wanted(headers: &HeaderMap, size: u64) -> Wanted {
    let mut said = headers.get_all(RANGE).iter();
    let (Some(range), None) = (said.next(), said.next()) else { return Wanted::Whole };
    let range = range.to_str().ok().and_then(|text| text.split_once('='));
    let Some((_, range)) = range.filter(|(unit, _)| unit.trim().eq_ignore_ascii_case("bytes")) else {
        return Wanted::Whole;
    };
    let Some((first, last)) = range.trim().split_once('-') else { return Wanted::Whole };
    match (number(first), number(last)) {
        (Some(Some(first)), Some(None)) => part(first, u64::MAX, size),
        (Some(Some(first)), Some(Some(last))) if first <= last => part(first, last, size),
        (Some(None), Some(Some(0))) => Wanted::Beyond,
        (Some(None), Some(Some(length))) => part(size.saturating_sub(length), u64::MAX, size),
        // What means nothing is passed over, as the section has it.
        _ => Wanted::Whole,
    }
}

/// Digits, which may be absent. `None`: something else.
fn number(text: &str) -> Option<Option<u64>> {
    if text.is_empty() {
        return Some(None);
    }
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    // More digits than any size has are only a large number.
    is_number.then(|| Some(text.parse().unwrap_or(u64::MAX)))
}

fn part(first: u64, last: u64, size: u64) -> Wanted {
    if first >= size { Wanted::Beyond } else { Wanted::Part { first, last: last.min(size - 1) } }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(range: &str, size: u64) -> Wanted {
        wanted(&[(RANGE, range.parse().unwrap())].into_iter().collect(), size)
    }

    #[test]
    fn one_range_is_served_within_the_file() {
        assert_eq!(of("bytes=0-0", 10), Wanted::Part { first: 0, last: 0 });
        assert_eq!(of("Bytes=3-", 10), Wanted::Part { first: 3, last: 9 });
        assert_eq!(of("bytes=3-99999999999999999999999", 10), Wanted::Part { first: 3, last: 9 });
        assert_eq!(of("bytes=-4", 10), Wanted::Part { first: 6, last: 9 });
        assert_eq!(of("bytes=-11", 10), Wanted::Part { first: 0, last: 9 });
    }

    #[test]
    fn bytes_that_there_are_none_of_are_beyond() {
        for range in ["bytes=10-", "bytes=10-12", "bytes=-0"] {
            assert_eq!(of(range, 10), Wanted::Beyond, "{range}");
        }
        for range in ["bytes=0-", "bytes=0-0", "bytes=-1"] {
            assert_eq!(of(range, 0), Wanted::Beyond, "{range} of an empty file");
        }
    }

    #[test]
    fn what_means_nothing_several_ranges_and_other_units_are_passed_over() {
        for range in
            ["bytes=4-3", "bytes=-", "bytes=a-b", "bytes=+1-2", "bytes=0-1,3-4", "lines=0-1", "bytes", ""]
        {
            assert_eq!(of(range, 10), Wanted::Whole, "{range}");
        }
        assert_eq!(wanted(&HeaderMap::new(), 10), Wanted::Whole);
    }

    proptest! {
        #[test]
        fn a_part_is_never_empty_and_never_beyond_the_file(range in "bytes=[0-9]{0,3}-[0-9]{0,3}", size in 0..500_u64) {
            if let Wanted::Part { first, last } = of(&range, size) {
                prop_assert!(first <= last && last < size);
            }
        }
    }
}
