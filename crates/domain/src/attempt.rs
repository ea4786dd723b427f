//! An attempt: one try by one worker, numbered by its fence.

/// Where an attempt stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttemptState {
    /// Its worker holds the lease, as far as the database knows.
    Running,
    /// Its candidate was selected.
    Succeeded,
    /// It ended with an error that its worker recorded.
    Failed,
    /// Its lease was taken away: it ran out, or the job was cancelled. Its worker may not know yet.
    Lost,
    /// Its worker came back, was refused, and knows.
    Fenced,
}

impl AttemptState {
    /// Every state, in the order of the drawing.
    pub const ALL: [Self; 5] = [Self::Running, Self::Succeeded, Self::Failed, Self::Lost, Self::Fenced];

    /// The state as it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Lost => "lost",
            Self::Fenced => "fenced",
        }
    }

    /// The state that is stored as this text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// Whether an attempt may go from here to there.
    pub fn may_become(self, next: Self) -> bool {
        match self {
            Self::Running => next != Self::Running,
            Self::Lost => next == Self::Fenced,
            Self::Succeeded | Self::Failed | Self::Fenced => false,
        }
    }
}
