//! How much work a run does.

/// Who asks at once, each for a tenant of its own: acceptances of one tenant take turns.
pub(crate) const CALLERS: usize = 16;

/// Rows of one small export.
pub(crate) const ROWS_PER_EXPORT: u64 = 100;

/// Acceptances in one run of `pgbench`'s script, which begins with a statement that is not of them.
pub(crate) const ACCEPTANCES_PER_SCRIPT: u64 = 20;

/// The size of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    /// Acceptances of each caller in a round.
    pub(crate) each: u64,
    /// The same in the round that only warms up.
    pub(crate) warm_up_each: u64,
    /// How often everything is measured. Odd, so that a median was really seen.
    pub(crate) rounds: usize,
    /// Exports that go through everything.
    pub(crate) through: u64,
}

impl Size {
    pub(crate) const FULL: Self = Self { each: 1000, warm_up_each: 200, rounds: 3, through: 10_000 };

    pub(crate) const QUICK: Self = Self { each: 100, warm_up_each: 20, rounds: 1, through: 320 };

    const fn is_whole(self) -> bool {
        self.each.is_multiple_of(ACCEPTANCES_PER_SCRIPT)
            && self.warm_up_each.is_multiple_of(ACCEPTANCES_PER_SCRIPT)
            && self.through.is_multiple_of(CALLERS as u64)
    }
}

// Both sides accept equally many, and so does each caller.
const _: () = assert!(Size::FULL.is_whole() && Size::QUICK.is_whole());
