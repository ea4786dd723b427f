//! What a new version of a schema has to be compatible with, as Confluent's registry defines its compatibility types.

use std::fmt;
use std::str::FromStr;

use crate::compatibility::incompatibilities;
use crate::incompatibility::{Incomparable, Incompatibility};
use crate::schema::Schema;

/// A compatibility type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// Nothing is asked.
    None,
    /// The new version reads what the latest one wrote: readers go first.
    Backward,
    /// It reads what any earlier one wrote.
    BackwardTransitive,
    /// The latest version reads what the new one writes: writers go first.
    Forward,
    /// Any earlier version does.
    ForwardTransitive,
    /// Both, with the latest version.
    Full,
    /// Both, with any earlier version.
    FullTransitive,
}

impl Level {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::None,
        Self::Backward,
        Self::BackwardTransitive,
        Self::Forward,
        Self::ForwardTransitive,
        Self::Full,
        Self::FullTransitive,
    ];

    /// As registries write it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Backward => "BACKWARD",
            Self::BackwardTransitive => "BACKWARD_TRANSITIVE",
            Self::Forward => "FORWARD",
            Self::ForwardTransitive => "FORWARD_TRANSITIVE",
            Self::Full => "FULL",
            Self::FullTransitive => "FULL_TRANSITIVE",
        }
    }

    /// Whether every earlier version counts, and not only the latest.
    #[must_use]
    pub const fn is_transitive(self) -> bool {
        match self {
            Self::BackwardTransitive | Self::ForwardTransitive | Self::FullTransitive => true,
            Self::None | Self::Backward | Self::Forward | Self::Full => false,
        }
    }

    /// Who has to read whom.
    #[must_use]
    pub const fn directions(self) -> &'static [Direction] {
        match self {
            Self::None => &[],
            Self::Backward | Self::BackwardTransitive => &[Direction::NewReadsOld],
            Self::Forward | Self::ForwardTransitive => &[Direction::OldReadsNew],
            Self::Full | Self::FullTransitive => &[Direction::NewReadsOld, Direction::OldReadsNew],
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// No compatibility type is called so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no compatibility type: NONE, or BACKWARD, FORWARD or FULL, each with or without _TRANSITIVE"
)]
pub struct UnknownLevel(String);

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<Self, UnknownLevel> {
        Self::ALL
            .into_iter()
            .find(|level| level.as_str() == text)
            .ok_or_else(|| UnknownLevel(text.to_owned()))
    }
}

/// Who reads whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// The new version is the reader's schema.
    NewReadsOld,
    /// The earlier version is.
    OldReadsNew,
}

impl Direction {
    /// The reader's and the writer's schema.
    #[must_use]
    pub fn pair<'s>(self, new: &'s Schema, old: &'s Schema) -> (&'s Schema, &'s Schema) {
        match self {
            Self::NewReadsOld => (new, old),
            Self::OldReadsNew => (old, new),
        }
    }
}

/// What a new version breaks with one earlier version in one direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breakage {
    /// The place of the earlier version in the list that was given.
    pub version: usize,
    /// Who does not read whom.
    pub direction: Direction,
    /// Why, or why that cannot be told.
    pub reasons: Result<Vec<Incompatibility>, Incomparable>,
}

/// Everything that a new version breaks: with each version that counts, the latest first, and in each direction that does.
/// `earlier` is in the order of the versions. Nothing is left out after the first finding.
#[must_use]
pub fn breakages(level: Level, new: &Schema, earlier: &[Schema]) -> Vec<Breakage> {
    let counts = if level.is_transitive() { earlier.len() } else { 1 };
    let versions = earlier.iter().enumerate().rev().take(counts);
    let asked =
        versions.flat_map(|(version, old)| level.directions().iter().map(move |d| (version, old, *d)));
    asked
        .map(|(version, old, direction)| {
            let (reader, writer) = direction.pair(new, old);
            Breakage { version, direction, reasons: incompatibilities(reader, writer) }
        })
        .filter(|breakage| breakage.reasons.as_ref().map_or(true, |reasons| !reasons.is_empty()))
        .collect()
}
