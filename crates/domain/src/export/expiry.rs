//! Until when the file is wanted.

use jiff::{SignedDuration, Timestamp};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{Errors, FieldError};
use crate::retention::{Kept, RETENTION_SECONDS_MAX, RETENTION_SECONDS_MIN, Retention};
use crate::span;

/// Until when the file is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// For so long after it is there.
    After(SignedDuration),
    /// Until then.
    At(Timestamp),
}

impl Serialize for Expiry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::After(length) => serializer.serialize_str(&span::write(*length)),
            Self::At(time) => serializer.collect_str(time),
        }
    }
}

impl Expiry {
    /// What it means for the result of an export that is accepted now.
    ///
    /// # Errors
    /// A time that is too short or too long.
    pub fn kept(self, now: Timestamp) -> Result<Kept, FieldError> {
        match self {
            Self::After(length) => Retention::from_seconds(length.as_secs()).map(Kept::For),
            Self::At(time) => {
                Retention::from_seconds(time.duration_since(now).as_secs()).map(|_within| Kept::Until(time))
            }
        }
        .map_err(|_invalid| out_of_bounds())
    }
}

fn out_of_bounds() -> FieldError {
    let [min, max] = [RETENTION_SECONDS_MIN, RETENTION_SECONDS_MAX]
        .map(|bound| span::write(SignedDuration::from_secs(bound)));
    FieldError { field: "expiry".to_owned(), problem: format!("must lie between {min} and {max} from now") }
}

pub(super) fn expiry(value: &Value, errors: &mut Errors) -> Option<Expiry> {
    let text = value.as_str().unwrap_or_default();
    let length = span::parse(text).map(Expiry::After);
    let expiry = length.or_else(|| text.parse().ok().map(Expiry::At));
    if expiry.is_none() {
        errors.add(
            "expiry",
            "must be a length such as \"12h\" or \"7d\", or a time such as \"2026-01-31T00:00:00Z\"",
        );
    }
    expiry
}
