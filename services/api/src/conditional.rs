//! Validators of representations, and what a caller says about those that it has (RFC 9110, sections 8.8.3 and 13.1).

use axum::http::HeaderMap;
use axum::http::header::{IF_NONE_MATCH, IF_RANGE};
use serde_json::Value;
use sha2::{Digest, Sha256};
use waybill_domain::hex;

/// How many bytes of a digest tell two representations of one resource apart.
const TAG_BYTES: usize = 16;

/// The strong validator of a JSON representation: another one for each byte that differs.
pub(crate) fn tag(representation: &Value) -> String {
    hex(&Sha256::digest(representation.to_string())[..TAG_BYTES])
}

/// A validator as a header says it.
pub(crate) fn quoted(tag: &str) -> String {
    format!("\"{tag}\"")
}

/// Whether the caller says that it has a representation.
pub(crate) fn has_any(headers: &HeaderMap) -> bool {
    headers.contains_key(IF_NONE_MATCH)
}

/// Whether the caller has this representation already: compared weakly (section 13.1.2).
pub(crate) fn has(headers: &HeaderMap, etag: &str) -> bool {
    headers
        .get_all(IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|tag| tag.trim().trim_start_matches("W/"))
        .any(|tag| tag == etag || tag == "*")
}

/// Whether a part may be sent to a caller that wants one only of the representation that it has a part of: compared strongly
/// (section 13.1.5). We say no dates, so a date is never ours.
pub(crate) fn part_is_of(headers: &HeaderMap, etag: &str) -> bool {
    let mut said = headers.get_all(IF_RANGE).iter();
    match (said.next(), said.next()) {
        (None, _) => true,
        (Some(only), None) => only.as_bytes() == etag.as_bytes(),
        (Some(_), Some(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderName;

    use super::*;

    fn headers(name: &HeaderName, values: &[&str]) -> HeaderMap {
        values.iter().map(|value| (name.clone(), value.parse().unwrap())).collect()
    }

    #[test]
    fn what_the_caller_has_is_compared_weakly() {
        let has = |values: &[&str]| has(&headers(&IF_NONE_MATCH, values), "\"a\"");
        assert!(has(&["\"a\""]) && has(&["W/\"a\""]) && has(&["\"b\", \"a\""]) && has(&["*"]));
        assert!(!has(&[]) && !has(&["\"b\""]) && !has(&["a"]));
    }

    #[test]
    fn a_part_is_only_sent_of_the_very_same_representation() {
        let of = |values: &[&str]| part_is_of(&headers(&IF_RANGE, values), "\"a\"");
        assert!(of(&[]) && of(&["\"a\""]));
        assert!(!of(&["W/\"a\""]) && !of(&["\"b\""]) && !of(&["Wed, 21 Oct 2026 07:28:00 GMT"]));
        assert!(!of(&["\"a\"", "\"a\""]));
    }
}
