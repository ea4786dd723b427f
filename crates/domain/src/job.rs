//! The lifecycle of a job: what may happen to it, and what follows.

use jiff::{SignedDuration, Timestamp};

use crate::attempt::AttemptState;
use crate::limits::{Jitter, LOST_LEASES_MAX, TRANSIENT_FAILURES_MAX, WORK_FAILURES_MAX, backoff};
use crate::retention::{Kept, Retention};

/// Where a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JobState {
    /// Waits for a worker, from `due_at` on.
    Pending,
    /// A worker holds it until `lease_until`.
    Running,
    /// Took too many workers down; waits for a person.
    Quarantined,
    /// One result is selected.
    Succeeded,
    /// Ended without a result.
    Failed,
    /// Called off before it had an outcome.
    Cancelled,
    /// Its result is past its time.
    Expired,
    /// Its owner deleted it.
    Deleted,
}

impl JobState {
    /// Every state, in the order of the drawing.
    pub const ALL: [Self; 8] = [
        Self::Pending,
        Self::Running,
        Self::Quarantined,
        Self::Succeeded,
        Self::Failed,
        Self::Cancelled,
        Self::Expired,
        Self::Deleted,
    ];

    /// The state as it is stored and answered.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Quarantined => "quarantined",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
            Self::Deleted => "deleted",
        }
    }

    /// The state that is stored as this text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// Whether the job has its outcome and no worker will touch it again.
    pub fn is_terminal(self) -> bool {
        match self {
            Self::Pending | Self::Running | Self::Quarantined => false,
            Self::Succeeded | Self::Failed | Self::Cancelled | Self::Expired | Self::Deleted => true,
        }
    }
}

/// What became true of an export, and is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FactKind {
    /// It was accepted.
    Requested,
    /// A usable result is selected.
    Succeeded,
    /// It ended without a result.
    Failed,
    /// It was called off.
    Cancelled,
    /// Its result is gone with time.
    Expired,
    /// Its owner deleted it.
    Deleted,
}

impl FactKind {
    /// Every kind of fact.
    pub const ALL: [Self; 6] =
        [Self::Requested, Self::Succeeded, Self::Failed, Self::Cancelled, Self::Expired, Self::Deleted];

    /// The CloudEvents `type` of this fact.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Requested => "waybill.export.requested",
            Self::Succeeded => "waybill.export.succeeded",
            Self::Failed => "waybill.export.failed",
            Self::Cancelled => "waybill.export.cancelled",
            Self::Expired => "waybill.export.expired",
            Self::Deleted => "waybill.export.deleted",
        }
    }

    /// The fact with this CloudEvents `type`.
    pub fn parse(type_name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.type_name() == type_name)
    }
}

/// The part of a job's row that decisions read and write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lifecycle {
    /// Where it stands.
    pub state: JobState,
    /// One more exactly when a fact about it is published.
    pub version: i64,
    /// The processing generation: a write by a claimant of an older one changes nothing.
    pub fence: i64,
    /// While running: until when its claimant holds it.
    pub lease_until: Option<Timestamp>,
    /// While pending: from when on it may be claimed.
    pub due_at: Option<Timestamp>,
    /// How many attempts failed because something around them was away.
    pub transient_failures: i32,
    /// How many attempts failed in a way that lets their own data or file be suspected.
    pub work_failures: i32,
    /// How many leases ran out.
    pub lost_leases: i32,
    /// How long its result is kept from its completion on, where that is what was asked for.
    pub retention: Option<Retention>,
    /// From when on its result may be gone: known from the beginning or since its completion. Without it the result is kept
    /// until somebody deletes it.
    pub expires_at: Option<Timestamp>,
}

/// What is suspected of a failure that may pass. It says how often another try is worth its cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suspect {
    /// Something around the work is away: it comes back, so the job outlasts it, and counts `transient_failures`.
    Surroundings,
    /// The data or the file made of it: a few more looks help or none does, and the job counts `work_failures`.
    Work,
}

/// What somebody wants to happen to a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// A worker takes it, or takes it over.
    Claim {
        /// For how long.
        lease: SignedDuration,
    },
    /// Its claimant needs more time.
    Renew {
        /// The claimant's fence.
        fence: i64,
        /// For how long from now.
        lease: SignedDuration,
    },
    /// Its claimant has a verified candidate.
    Complete {
        /// The claimant's fence.
        fence: i64,
    },
    /// Its claimant failed for a reason that may pass.
    FailTransient {
        /// The claimant's fence.
        fence: i64,
        /// What is suspected.
        suspect: Suspect,
        /// What the job's wait is drawn from.
        jitter: Jitter,
    },
    /// Its claimant stops and hands the work back unharmed: no failure, due at once.
    HandBack {
        /// The claimant's fence.
        fence: i64,
    },
    /// Its claimant failed for a reason that will not pass.
    FailForGood {
        /// The claimant's fence.
        fence: i64,
    },
    /// Its owner calls it off.
    Cancel,
    /// A person lets a quarantined job try again.
    Release,
    /// A person ends a quarantined job.
    GiveUp,
    /// Its result's time is over.
    Expire,
    /// Its owner deletes it.
    Delete,
}

impl Command {
    /// The command's name, as it is logged.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claim { .. } => "claim",
            Self::Renew { .. } => "renew",
            Self::Complete { .. } => "complete",
            Self::FailTransient { .. } => "fail transient",
            Self::HandBack { .. } => "hand back",
            Self::FailForGood { .. } => "fail for good",
            Self::Cancel => "cancel",
            Self::Release => "release",
            Self::GiveUp => "give up",
            Self::Expire => "expire",
            Self::Delete => "delete",
        }
    }
}

/// What follows from a command that was taken; the caller stores all of it in one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The job as it is from now on.
    pub next: Lifecycle,
    /// The fact to publish. Present exactly when the version grew.
    pub fact: Option<FactKind>,
    /// From when on the job is overdue, and the reconciler counts until it writes the command again; absent where
    /// nothing is left to do.
    pub remind_at: Option<Timestamp>,
    /// The attempt that ended with this decision, and how.
    pub ended_attempt: Option<(i64, AttemptState)>,
}

/// Why a command was not taken. The job stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The claimant's time is over: another generation, or an end, came in between.
    #[error("fenced: the claimant holds fence {held}, the job is {state:?} at fence {current}", state = .state.as_str())]
    Fenced {
        /// What the claimant holds.
        held: i64,
        /// What the job's row says.
        current: i64,
        /// Where the job stands.
        state: JobState,
    },
    /// Too late for more time: the tenant's slot may be another job's already.
    #[error("the lease is over")]
    LeaseOver,
    /// Nobody may claim it before this time.
    #[error("not due before {until}")]
    NotDue {
        /// The due time, or the end of the lease.
        until: Timestamp,
    },
    /// The command has no meaning in this state.
    #[error("cannot {command} an export that is {state:?}", state = .state.as_str())]
    NotAllowed {
        /// Where the job stands.
        state: JobState,
        /// The command's name.
        command: &'static str,
    },
}

impl Lifecycle {
    /// A job as it is accepted: due at once, its first fact (`requested`) being version 1.
    pub fn accepted(now: Timestamp, kept: Kept) -> Decision {
        let next = Self {
            state: JobState::Pending,
            version: 1,
            fence: 0,
            lease_until: None,
            due_at: Some(now),
            transient_failures: 0,
            work_failures: 0,
            lost_leases: 0,
            retention: kept.retention(),
            expires_at: kept.until(),
        };
        Decision { remind_at: remind_at(&next), next, fact: Some(FactKind::Requested), ended_attempt: None }
    }

    /// Until when its result is kept, as it was asked for.
    fn kept(&self) -> Kept {
        match (self.retention, self.expires_at) {
            (Some(retention), _) => Kept::For(retention),
            (None, Some(time)) => Kept::Until(time),
            (None, None) => Kept::Always,
        }
    }

    fn pending(&self, due_at: Timestamp) -> Self {
        Self { state: JobState::Pending, due_at: Some(due_at), lease_until: None, ..self.clone() }
    }

    fn running(&self, fence: i64, lease_until: Timestamp) -> Self {
        Self { state: JobState::Running, fence, due_at: None, lease_until: Some(lease_until), ..self.clone() }
    }

    /// The same job without anything that would let a worker touch it.
    fn at_rest(&self, state: JobState) -> Self {
        Self { state, due_at: None, lease_until: None, ..self.clone() }
    }
}

/// Decides what a command does to a job. `now` is the database's.
pub fn decide(job: &Lifecycle, command: Command, now: Timestamp) -> Result<Decision, Rejection> {
    match command {
        Command::Claim { lease } => claim(job, lease, now),
        Command::Renew { fence, lease } => {
            held(job, fence)?;
            if job.lease_until.is_none_or(|until| until < now) {
                return Err(Rejection::LeaseOver);
            }
            Ok(silently(job.running(fence, now + lease), None))
        }
        Command::Complete { fence } => {
            held(job, fence)?;
            let expires_at = job.retention.map(|retention| now + retention.duration()).or(job.expires_at);
            let succeeded = Lifecycle { expires_at, ..job.at_rest(JobState::Succeeded) };
            Ok(publishing(succeeded, FactKind::Succeeded, Some(AttemptState::Succeeded)))
        }
        Command::FailTransient { fence, suspect, jitter } => fail_transient(job, fence, suspect, jitter, now),
        Command::HandBack { fence } => {
            held(job, fence)?;
            Ok(silently(job.pending(now), Some((fence, AttemptState::Failed))))
        }
        Command::FailForGood { fence } => {
            held(job, fence)?;
            Ok(publishing(job.at_rest(JobState::Failed), FactKind::Failed, Some(AttemptState::Failed)))
        }
        Command::Cancel => cancel(job),
        Command::Release => {
            only_from(job, JobState::Quarantined, command)?;
            let fresh = Lifecycle { transient_failures: 0, work_failures: 0, lost_leases: 0, ..job.clone() };
            Ok(silently(fresh.pending(now), None))
        }
        Command::GiveUp => {
            only_from(job, JobState::Quarantined, command)?;
            Ok(publishing(job.at_rest(JobState::Failed), FactKind::Failed, None))
        }
        Command::Expire => {
            only_from(job, JobState::Succeeded, command)?;
            match job.expires_at {
                None => Err(not_allowed(job, command)),
                Some(until) if now < until => Err(Rejection::NotDue { until }),
                Some(_over) => Ok(publishing(job.at_rest(JobState::Expired), FactKind::Expired, None)),
            }
        }
        Command::Delete => {
            if !job.state.is_terminal() || job.state == JobState::Deleted {
                return Err(not_allowed(job, command));
            }
            Ok(publishing(job.at_rest(JobState::Deleted), FactKind::Deleted, None))
        }
    }
}

/// Decides what a retry of this job makes: another job, accepted like any. This one stays as it is.
pub fn retry(of: &Lifecycle, now: Timestamp) -> Result<Decision, Rejection> {
    if of.state != JobState::Failed {
        return Err(Rejection::NotAllowed { state: of.state, command: "retry" });
    }
    Ok(Lifecycle::accepted(now, of.kept()))
}

fn claim(job: &Lifecycle, lease: SignedDuration, now: Timestamp) -> Result<Decision, Rejection> {
    let (until, overdue) = match (job.state, job.due_at, job.lease_until) {
        (JobState::Pending, Some(due_at), _) => (due_at, false),
        (JobState::Running, _, Some(lease_until)) => (lease_until, true),
        _ => return Err(not_allowed(job, Command::Claim { lease })),
    };
    if now < until {
        return Err(Rejection::NotDue { until });
    }
    if !overdue {
        return Ok(silently(job.running(job.fence + 1, now + lease), None));
    }
    let job_after_loss = Lifecycle { lost_leases: job.lost_leases + 1, ..job.clone() };
    let lost = Some((job.fence, AttemptState::Lost));
    if job_after_loss.lost_leases >= LOST_LEASES_MAX {
        // The fence moves here too: the worker that is thought dead must not complete what a person now decides.
        let quarantined = Lifecycle { fence: job.fence + 1, ..job_after_loss.at_rest(JobState::Quarantined) };
        return Ok(silently(quarantined, lost));
    }
    Ok(silently(job_after_loss.running(job.fence + 1, now + lease), lost))
}

fn fail_transient(
    job: &Lifecycle,
    fence: i64,
    suspect: Suspect,
    jitter: Jitter,
    now: Timestamp,
) -> Result<Decision, Rejection> {
    held(job, fence)?;
    let mut failed = job.clone();
    let (failures, failures_max) = match suspect {
        Suspect::Surroundings => (&mut failed.transient_failures, TRANSIENT_FAILURES_MAX),
        Suspect::Work => (&mut failed.work_failures, WORK_FAILURES_MAX),
    };
    *failures += 1;
    let failures = *failures;
    if failures > failures_max {
        return Ok(publishing(
            failed.at_rest(JobState::Failed),
            FactKind::Failed,
            Some(AttemptState::Failed),
        ));
    }
    let due_at = now + backoff(failures, jitter);
    Ok(silently(failed.pending(due_at), Some((fence, AttemptState::Failed))))
}

fn cancel(job: &Lifecycle) -> Result<Decision, Rejection> {
    let ended_attempt = match job.state {
        JobState::Pending => None,
        JobState::Running => Some((job.fence, AttemptState::Lost)),
        JobState::Quarantined
        | JobState::Succeeded
        | JobState::Failed
        | JobState::Cancelled
        | JobState::Expired
        | JobState::Deleted => return Err(not_allowed(job, Command::Cancel)),
    };
    let cancelled = Lifecycle { fence: job.fence + 1, ..job.at_rest(JobState::Cancelled) };
    Ok(Decision { ended_attempt, ..publishing(cancelled, FactKind::Cancelled, None) })
}

/// The claimant still holds the job: same generation, still running. A lease that ran out without anybody having
/// taken over is still held, because the fence and not the clock is what makes a completion safe.
fn held(job: &Lifecycle, fence: i64) -> Result<(), Rejection> {
    if job.state == JobState::Running && job.fence == fence {
        return Ok(());
    }
    Err(Rejection::Fenced { held: fence, current: job.fence, state: job.state })
}

fn only_from(job: &Lifecycle, state: JobState, command: Command) -> Result<(), Rejection> {
    if job.state == state { Ok(()) } else { Err(not_allowed(job, command)) }
}

fn not_allowed(job: &Lifecycle, command: Command) -> Rejection {
    Rejection::NotAllowed { state: job.state, command: command.name() }
}

fn silently(next: Lifecycle, ended_attempt: Option<(i64, AttemptState)>) -> Decision {
    Decision { remind_at: remind_at(&next), next, fact: None, ended_attempt }
}

fn publishing(mut next: Lifecycle, fact: FactKind, attempt: Option<AttemptState>) -> Decision {
    next.version += 1;
    let ended_attempt = attempt.map(|state| (next.fence, state));
    Decision { fact: Some(fact), ..silently(next, ended_attempt) }
}

fn remind_at(job: &Lifecycle) -> Option<Timestamp> {
    job.due_at.or(job.lease_until)
}
