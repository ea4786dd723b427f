//! What a caller would like but does not insist on: `Prefer` (RFC 7240). We know `wait`; anything else is passed over, as it
//! should be.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName};

/// The header of a preference.
pub(crate) const PREFER: HeaderName = HeaderName::from_static("prefer");
/// The header that says which preferences were met.
pub(crate) const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

/// The longest that anybody is made to wait; below what proxies commonly take.
pub(crate) const WAIT_SECONDS_MAX: u64 = 60;

/// How long the caller would like to wait, within the bound. The first mention counts, and one that is no number none.
pub(crate) fn wait(headers: &HeaderMap) -> Option<Duration> {
    let values = headers.get_all(PREFER).iter().filter_map(|value| value.to_str().ok());
    let mut preferences = values.flat_map(|value| value.split(',')).map(|preference| {
        // Parameters of a preference come after a semicolon; `wait` has none.
        let preference = preference.split(';').next().unwrap_or_default();
        preference.split_once('=').map(|(name, value)| (name.trim(), value.trim().trim_matches('"')))
    });
    let (_, seconds) = preferences
        .find_map(|preference| preference.filter(|(name, _)| name.eq_ignore_ascii_case("wait")))?;
    let seconds: u64 = seconds.parse().ok()?;
    Some(Duration::from_secs(seconds.min(WAIT_SECONDS_MAX)))
}

/// What is answered to whoever was made to wait.
pub(crate) fn applied(wait: Duration) -> String {
    format!("wait={}", wait.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(values: &[&str]) -> Option<u64> {
        let headers = values.iter().map(|value| (PREFER, value.parse().unwrap())).collect();
        wait(&headers).map(|wait| wait.as_secs())
    }

    #[test]
    fn a_wait_is_found_among_other_preferences_and_has_a_bound() {
        assert_eq!(wanted(&["wait=10"]), Some(10));
        assert_eq!(wanted(&["respond-async, Wait = \"5\"; a=b", "wait=9"]), Some(5));
        assert_eq!(wanted(&["return=minimal", "wait=3600"]), Some(WAIT_SECONDS_MAX));
        assert_eq!(wanted(&["wait=0"]), Some(0));
    }

    #[test]
    fn what_is_no_wait_is_passed_over() {
        for none in ["", "wait", "wait=", "wait=soon", "wait=-1", "waits=5", "respond-async"] {
            assert_eq!(wanted(&[none]), None, "{none:?}");
        }
        assert_eq!(wanted(&[]), None);
    }
}
