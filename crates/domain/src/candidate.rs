//! A candidate: a file that one attempt wrote, and when it may go.
//!
//! The collector deletes by [`judge`] and explains itself by it, so that what it does and what it says cannot differ.
//! Deliberately absent: any verdict from the age alone. Age only delays what the rows already allow.

use jiff::{SignedDuration, Timestamp};

use crate::attempt::AttemptState;
use crate::job::JobState;

/// How far a candidate has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CandidateState {
    /// Its object may be absent, partial or whole.
    Writing,
    /// Its object was read back: size, digest and record count are right.
    Verified,
    /// It is the result of its export.
    Selected,
    /// Nobody needs it any longer, for good; its object waits to be deleted.
    Condemned,
    /// Its object is gone. The row stays.
    Deleted,
}

impl CandidateState {
    /// Every state, in the order of the drawing.
    pub const ALL: [Self; 5] =
        [Self::Writing, Self::Verified, Self::Selected, Self::Condemned, Self::Deleted];

    /// The state as it is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Writing => "writing",
            Self::Verified => "verified",
            Self::Selected => "selected",
            Self::Condemned => "condemned",
            Self::Deleted => "deleted",
        }
    }

    /// The state that is stored as this text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// Whether a candidate may go from here to there. None ever comes back from being condemned: what is condemned can
    /// no longer be verified or selected, which is what makes deleting it safe.
    pub fn may_become(self, next: Self) -> bool {
        match self {
            Self::Writing => matches!(next, Self::Verified | Self::Condemned),
            Self::Verified => matches!(next, Self::Selected | Self::Condemned),
            Self::Selected => next == Self::Condemned,
            Self::Condemned => next == Self::Deleted,
            Self::Deleted => false,
        }
    }
}

/// Why nobody needs a candidate any longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// Its attempt is over and its export did not select it.
    AttemptOver,
    /// Another generation, or an end, came before its attempt recorded one.
    Fenced,
    /// It was the result of an export whose time is over.
    ExportExpired,
    /// It was the result of an export that its owner deleted.
    ExportDeleted,
}

impl Cause {
    /// Every cause.
    pub const ALL: [Self; 4] = [Self::AttemptOver, Self::Fenced, Self::ExportExpired, Self::ExportDeleted];

    /// The cause as it is stored and answered.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AttemptOver => "attempt-over",
            Self::Fenced => "fenced",
            Self::ExportExpired => "export-expired",
            Self::ExportDeleted => "export-deleted",
        }
    }

    /// The cause that is stored as this text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.as_str() == text)
    }
}

/// What the rows say of a candidate, its attempt and its export, in one snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// Its own state.
    pub state: CandidateState,
    /// When its row was made, which is before its upload.
    pub created_at: Timestamp,
    /// When it was condemned, where it was.
    pub condemned_at: Option<Timestamp>,
    /// Where its attempt stands.
    pub attempt: AttemptState,
    /// Its attempt's fence.
    pub fence: i64,
    /// Where its export stands.
    pub job: JobState,
    /// The fence of its export.
    pub job_fence: i64,
    /// Whether its export selected it.
    pub is_result: bool,
}

/// How long the collector holds back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// How old a candidate that was never selected is at the least: past every lease and every upload.
    pub collect_after: SignedDuration,
    /// How long one stays condemned at the least, before the rows are looked at once more.
    pub condemned_for: SignedDuration,
}

/// Why a candidate stays for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// It is the result that its export selected.
    Result,
    /// Its attempt may still need it.
    AttemptRuns,
    /// Nobody needs it, but what wrote it could still be at it until then.
    TooYoung {
        /// When it may be condemned.
        until: Timestamp,
    },
    /// It is condemned and stays until then.
    Waits {
        /// When its object may be deleted.
        until: Timestamp,
    },
    /// It is condemned though the rows say that it is needed. Nobody deletes it; somebody has to look.
    Contradiction,
}

impl Reason {
    /// The reason as it is answered.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Result => "result",
            Self::AttemptRuns => "attempt-runs",
            Self::TooYoung { .. } => "too-young",
            Self::Waits { .. } => "waits",
            Self::Contradiction => "contradiction",
        }
    }

    /// The time at which it ends by itself, where it does.
    pub const fn until(self) -> Option<Timestamp> {
        match self {
            Self::TooYoung { until } | Self::Waits { until } => Some(until),
            Self::Result | Self::AttemptRuns | Self::Contradiction => None,
        }
    }
}

/// What becomes of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It stays.
    Keep(Reason),
    /// It is to be condemned.
    Condemn(Cause),
    /// Its object is to be deleted.
    Delete(Cause),
    /// Its object is deleted.
    Gone,
}

/// Judges a candidate. `now` is the database's.
pub fn judge(candidate: &Standing, patience: Patience, now: Timestamp) -> Verdict {
    if candidate.state == CandidateState::Deleted {
        return Verdict::Gone;
    }
    let condemned = candidate.condemned_at.filter(|_| candidate.state == CandidateState::Condemned);
    let cause = match unneeded(candidate) {
        Ok(cause) => cause,
        Err(_needed) if condemned.is_some() => return Verdict::Keep(Reason::Contradiction),
        Err(needed) => return Verdict::Keep(needed),
    };
    if !candidate.is_result {
        let until = candidate.created_at + patience.collect_after;
        if now < until {
            return Verdict::Keep(Reason::TooYoung { until });
        }
    }
    let Some(condemned_at) = condemned else { return Verdict::Condemn(cause) };
    let until = condemned_at + patience.condemned_for;
    if now < until { Verdict::Keep(Reason::Waits { until }) } else { Verdict::Delete(cause) }
}

/// Why nobody needs it any longer, or why somebody does. What is answered with a cause stays so for ever: an attempt
/// that is over never runs again, a fence never goes back, and no export leaves `expired` or `deleted` for a result.
fn unneeded(candidate: &Standing) -> Result<Cause, Reason> {
    if candidate.is_result {
        return match candidate.job {
            JobState::Expired => Ok(Cause::ExportExpired),
            JobState::Deleted => Ok(Cause::ExportDeleted),
            JobState::Pending
            | JobState::Running
            | JobState::Quarantined
            | JobState::Succeeded
            | JobState::Failed
            | JobState::Cancelled => Err(Reason::Result),
        };
    }
    match candidate.attempt {
        AttemptState::Running if candidate.job_fence > candidate.fence => Ok(Cause::Fenced),
        AttemptState::Running => Err(Reason::AttemptRuns),
        AttemptState::Lost | AttemptState::Fenced => Ok(Cause::Fenced),
        AttemptState::Succeeded | AttemptState::Failed => Ok(Cause::AttemptOver),
    }
}
