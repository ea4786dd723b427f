//! Lists come in pages: `limit` entries after the one that `after` names.

use serde::Deserialize;
use waybill_domain::export::is_dataset_name;

use crate::problem::{Answer, Problem};

/// How many entries a page has when the caller says nothing.
const ENTRIES_DEFAULT: i64 = 100;
/// The most entries of a page.
pub(crate) const ENTRIES_MAX: i64 = 1_000;

/// Which part of a list is wanted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Page {
    /// The last entry of the page before.
    pub(crate) after: Option<String>,
    limit: Option<i64>,
}

impl Page {
    /// A page of a list that takes more than the page.
    pub(crate) fn new(after: Option<String>, limit: Option<i64>) -> Self {
        Self { after, limit }
    }

    /// How many entries are wanted, within the bound.
    pub(crate) fn limit(&self) -> Answer<i64> {
        limit(self.limit, ENTRIES_DEFAULT, ENTRIES_MAX)
    }

    /// The data set that the page before ended with.
    pub(crate) fn after_dataset(&self) -> Answer<Option<&str>> {
        let after = self.after.as_deref();
        if after.is_none_or(is_dataset_name) {
            return Ok(after);
        }
        Err(Problem::field("after", "must be the name of a data set"))
    }

    /// What the next page's `after` is, unless this page was the last.
    pub(crate) fn next<T>(entries: &[T], limit: i64, name: impl Fn(&T) -> String) -> Option<String> {
        let full = usize::try_from(limit) == Ok(entries.len());
        entries.last().filter(|_| full).map(name)
    }
}

/// Reads an id of the query string. One that is none makes the request invalid: it is not what was asked for.
pub(crate) fn id<T, E>(
    field: &str,
    text: Option<&str>,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Answer<Option<T>> {
    let malformed = |_malformed| Problem::field(field, "must be an id as it was answered");
    text.map(parse).transpose().map_err(malformed)
}

/// A wanted number of entries, within its bound.
pub(crate) fn limit(wanted: Option<i64>, default: i64, max: i64) -> Answer<i64> {
    let limit = wanted.unwrap_or(default);
    if (1..=max).contains(&limit) {
        return Ok(limit);
    }
    Err(Problem::field("limit", format!("must be between 1 and {max}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_a_bound() {
        let page = |limit| Page { after: None, limit };
        assert_eq!(page(None).limit().unwrap(), ENTRIES_DEFAULT);
        assert_eq!(page(Some(0)).limit().unwrap_err().code(), "request-invalid");
        assert_eq!(page(Some(ENTRIES_MAX + 1)).limit().unwrap_err().code(), "request-invalid");
    }

    #[test]
    fn only_a_full_page_has_a_next_one() {
        assert_eq!(Page::next(&["a", "b"], 2, |name| (*name).to_owned()), Some("b".to_owned()));
        assert_eq!(Page::next(&["a"], 2, |name| (*name).to_owned()), None);
    }
}
