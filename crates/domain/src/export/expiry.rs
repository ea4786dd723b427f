//! Until when the file is wanted.

use jiff::{SignedDuration, Timestamp};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{Errors, FieldError};
use crate::span;

/// The shortest time that a file may be wanted for.
pub const EXPIRY_MIN_SECONDS: i64 = 5 * 60;
/// The longest time.
pub const EXPIRY_MAX_SECONDS: i64 = 366 * 24 * 60 * 60;

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
    /// Whether the time is within the bounds, for an export that is accepted now.
    ///
    /// # Errors
    /// A time that is too short or too long.
    pub fn check(self, now: Timestamp) -> Result<(), FieldError> {
        let length = match self {
            Self::After(length) => length,
            Self::At(time) => time.duration_since(now),
        };
        if (EXPIRY_MIN_SECONDS..=EXPIRY_MAX_SECONDS).contains(&length.as_secs()) {
            return Ok(());
        }
        let [min, max] = [EXPIRY_MIN_SECONDS, EXPIRY_MAX_SECONDS]
            .map(|bound| span::write(SignedDuration::from_secs(bound)));
        Err(FieldError {
            field: "expiry".to_owned(),
            problem: format!("must lie between {min} and {max} from now"),
        })
    }
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
