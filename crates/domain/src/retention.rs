//! How long the result of an export is kept.

use jiff::{SignedDuration, Timestamp};

/// The shortest time that a result is kept: whoever is told of it has to be able to fetch it.
pub const RETENTION_SECONDS_MIN: i64 = 5 * 60;

/// The longest time that a result is kept, a year. What has no end at all has no retention.
pub const RETENTION_SECONDS_MAX: i64 = 366 * 24 * 60 * 60;

/// A time that no result may be kept for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a result is kept for {RETENTION_SECONDS_MIN} to {RETENTION_SECONDS_MAX} seconds, not for {seconds}")]
pub struct InvalidRetention {
    /// What was wanted.
    pub seconds: i64,
}

/// How long a result is kept, from its completion on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Retention {
    seconds: i64,
}

impl Retention {
    /// So many seconds, from [`RETENTION_SECONDS_MIN`] to [`RETENTION_SECONDS_MAX`].
    ///
    /// # Errors
    /// [`InvalidRetention`].
    pub const fn from_seconds(seconds: i64) -> Result<Self, InvalidRetention> {
        if seconds < RETENTION_SECONDS_MIN || seconds > RETENTION_SECONDS_MAX {
            return Err(InvalidRetention { seconds });
        }
        Ok(Self { seconds })
    }

    /// In seconds.
    pub const fn seconds(self) -> i64 {
        self.seconds
    }

    /// As a duration.
    pub const fn duration(self) -> SignedDuration {
        SignedDuration::from_secs(self.seconds)
    }
}

/// Until when a result is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// Until somebody deletes it.
    Always,
    /// For so long after its completion.
    For(Retention),
    /// Until then, however soon after its completion that is.
    Until(Timestamp),
}

impl Kept {
    /// The length, where it is one.
    pub const fn retention(self) -> Option<Retention> {
        match self {
            Self::For(retention) => Some(retention),
            Self::Always | Self::Until(_) => None,
        }
    }

    /// The time, where it is one that is known before the completion.
    pub const fn until(self) -> Option<Timestamp> {
        match self {
            Self::Until(time) => Some(time),
            Self::Always | Self::For(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_within_the_bounds_is_a_retention() {
        for seconds in [RETENTION_SECONDS_MIN, RETENTION_SECONDS_MAX] {
            assert_eq!(Retention::from_seconds(seconds).map(Retention::seconds), Ok(seconds));
        }
        for seconds in [i64::MIN, 0, RETENTION_SECONDS_MIN - 1, RETENTION_SECONDS_MAX + 1] {
            assert_eq!(Retention::from_seconds(seconds), Err(InvalidRetention { seconds }));
        }
    }
}
