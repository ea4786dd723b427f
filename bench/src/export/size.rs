//! How much work a run does.

/// The size of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    /// Rows of the table that everybody writes.
    pub(crate) rows: u64,
    /// Rows of the tables by which growth is measured.
    pub(crate) rows_few: u64,
    pub(crate) rows_many: u64,
    /// How often everything is measured. Odd, so that a median was really seen.
    pub(crate) rounds: usize,
}

impl Size {
    pub(crate) const FULL: Self =
        Self { rows: 5_000_000, rows_few: 1_000_000, rows_many: 20_000_000, rounds: 3 };

    pub(crate) const QUICK: Self = Self { rows: 100_000, rows_few: 20_000, rows_many: 400_000, rounds: 1 };
}
