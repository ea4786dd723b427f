//! What may happen to a job, as sentences; and the one picture of it in the code, the database and the drawing.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use uuid::Uuid;
use waybill_domain::attempt::AttemptState;
use waybill_domain::candidate::{CandidateState, Cause};
use waybill_domain::ids::ExportId;
use waybill_domain::job::{Command, FactKind, JobState, Lifecycle, Rejection, Suspect, decide, retry};
use waybill_domain::limits::{
    Jitter, LOST_LEASES_MAX, OUTAGE_OUTLASTED_SECONDS, TRANSIENT_FAILURES_MAX, WORK_FAILURES_MAX, backoff_max,
};
use waybill_domain::retention::{Kept, Retention};

const LEASE: SignedDuration = SignedDuration::from_secs(30);

/// In seconds.
const RETENTION: i64 = 600;

fn kept() -> Kept {
    Kept::For(Retention::from_seconds(RETENTION).expect("it is within the bounds"))
}

fn jitter() -> Jitter {
    Jitter::of(&ExportId::from_uuid(Uuid::from_u128(7)))
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).expect("a time within the calendar")
}

fn accepted() -> Lifecycle {
    Lifecycle::accepted(at(0), kept()).next
}

fn claimed() -> Lifecycle {
    decide(&accepted(), Command::Claim { lease: LEASE }, at(0)).expect("a due job is claimed").next
}

fn job_in(state: JobState) -> Lifecycle {
    let settled = |command| decide(&claimed(), command, at(1)).expect("a claimant may end its job").next;
    match state {
        JobState::Pending => accepted(),
        JobState::Running => claimed(),
        JobState::Quarantined => Lifecycle { state, lease_until: None, ..claimed() },
        JobState::Succeeded => settled(Command::Complete { fence: 1 }),
        JobState::Failed => settled(Command::FailForGood { fence: 1 }),
        JobState::Cancelled => settled(Command::Cancel),
        JobState::Expired => {
            decide(&job_in(JobState::Succeeded), Command::Expire, at(1 + RETENTION)).expect("expires").next
        }
        JobState::Deleted => {
            decide(&job_in(JobState::Succeeded), Command::Delete, at(2)).expect("is deleted").next
        }
    }
}

fn commands(fence: i64) -> [Command; 12] {
    [
        Command::Claim { lease: LEASE },
        Command::Renew { fence, lease: LEASE },
        Command::Complete { fence },
        Command::FailTransient { fence, suspect: Suspect::Surroundings, jitter: jitter() },
        Command::FailTransient { fence, suspect: Suspect::Work, jitter: jitter() },
        Command::HandBack { fence },
        Command::FailForGood { fence },
        Command::Cancel,
        Command::Release,
        Command::GiveUp,
        Command::Expire,
        Command::Delete,
    ]
}

#[test]
fn an_accepted_job_is_due_at_once_and_its_first_fact_is_version_one() {
    let decision = Lifecycle::accepted(at(0), Kept::Always);
    assert_eq!(decision.fact, Some(FactKind::Requested));
    assert_eq!((decision.next.version, decision.next.due_at), (1, Some(at(0))));
}

#[test]
fn each_claim_raises_the_fence() {
    assert_eq!(claimed().fence, 1);
    let taken_over = decide(&claimed(), Command::Claim { lease: LEASE }, at(31)).expect("the lease is over");
    assert_eq!(taken_over.next.fence, 2);
    assert_eq!(taken_over.ended_attempt, Some((1, AttemptState::Lost)));
}

#[test]
fn a_job_under_a_live_lease_is_not_claimed() {
    let refused = decide(&claimed(), Command::Claim { lease: LEASE }, at(29));
    assert_eq!(refused, Err(Rejection::NotDue { until: at(30) }));
}

#[test]
fn a_lease_that_is_over_is_not_renewed_but_its_holder_may_still_end_the_job() {
    let renew = Command::Renew { fence: 1, lease: LEASE };
    assert_eq!(decide(&claimed(), renew, at(31)), Err(Rejection::LeaseOver));
    assert!(decide(&claimed(), renew, at(29)).is_ok());
    assert!(decide(&claimed(), Command::Complete { fence: 1 }, at(31)).is_ok());
}

#[test]
fn a_zombie_can_neither_complete_nor_fail_nor_renew_what_another_took_over() {
    let taken_over =
        decide(&claimed(), Command::Claim { lease: LEASE }, at(31)).expect("the lease is over").next;
    for command in &commands(1)[1..7] {
        let refused = decide(&taken_over, *command, at(32));
        assert_eq!(
            refused,
            Err(Rejection::Fenced { held: 1, current: 2, state: JobState::Running }),
            "{command:?}"
        );
    }
}

#[test]
fn a_completion_that_races_a_cancel_loses() {
    let cancelled = decide(&claimed(), Command::Cancel, at(1)).expect("a running job is cancelled").next;
    assert!(matches!(
        decide(&cancelled, Command::Complete { fence: 1 }, at(1)),
        Err(Rejection::Fenced { .. })
    ));
}

#[test]
fn a_job_that_takes_every_worker_down_is_quarantined_and_its_last_claimant_is_fenced() {
    let mut job = claimed();
    for lost in 1..LOST_LEASES_MAX {
        job = decide(&job, Command::Claim { lease: LEASE }, at(i64::from(lost) * 100)).expect("over").next;
        assert_eq!(job.state, JobState::Running);
    }
    let last = job.fence;
    let quarantined = decide(&job, Command::Claim { lease: LEASE }, at(100_000)).expect("over").next;
    assert_eq!(quarantined.state, JobState::Quarantined);
    assert!(decide(&quarantined, Command::Complete { fence: last }, at(100_001)).is_err());
}

/// The due times of a job that is claimed at once and fails at once until it fails for good.
fn due_times(mut job: Lifecycle, suspect: Suspect) -> Vec<Timestamp> {
    let mut now = at(0);
    let mut due_times = Vec::new();
    loop {
        let command = Command::FailTransient { fence: job.fence, suspect, jitter: jitter() };
        let decision = decide(&job, command, now).expect("the claimant may fail");
        let Some(due_at) = decision.next.due_at else {
            assert_eq!(decision.fact, Some(FactKind::Failed));
            return due_times;
        };
        due_times.push(due_at);
        now = due_at;
        job = decide(&decision.next, Command::Claim { lease: LEASE }, now).expect("it is due").next;
    }
}

#[test]
fn passing_failures_wait_within_their_bounds_and_end_in_a_failed_job() {
    for (suspect, failures_max) in
        [(Suspect::Surroundings, TRANSIENT_FAILURES_MAX), (Suspect::Work, WORK_FAILURES_MAX)]
    {
        let due_times = due_times(claimed(), suspect);
        assert_eq!(due_times.len(), failures_max as usize);
        for (pair, failures) in due_times.windows(2).zip(2..) {
            assert!(pair[1].duration_since(pair[0]) <= backoff_max(failures), "{suspect:?} {failures}");
        }
    }
}

#[test]
fn an_outage_of_a_day_fails_no_job() {
    let last = due_times(claimed(), Suspect::Surroundings).pop().expect("a wait");
    assert!(last >= at(OUTAGE_OUTLASTED_SECONDS));
}

#[test]
fn an_outage_uses_up_none_of_the_tries_that_the_work_itself_has() {
    let tried = Lifecycle { transient_failures: TRANSIENT_FAILURES_MAX, ..claimed() };
    assert_eq!(due_times(tried, Suspect::Work).len(), WORK_FAILURES_MAX as usize);
}

#[test]
fn every_job_that_is_not_terminal_has_a_time_at_which_somebody_looks_at_it_or_waits_for_a_person() {
    for state in JobState::ALL {
        for command in commands(1) {
            let Ok(decision) = decide(&job_in(state), command, at(1_000)) else { continue };
            let watched = decision.remind_at.is_some() || decision.next.state == JobState::Quarantined;
            assert_eq!(watched, !decision.next.state.is_terminal(), "{state:?} after {command:?}");
        }
    }
}

#[test]
fn work_that_is_handed_back_is_due_at_once_and_counts_as_no_failure() {
    let back = decide(&claimed(), Command::HandBack { fence: 1 }, at(5)).expect("the claimant may stop").next;
    assert_eq!((back.state, back.due_at, back.transient_failures), (JobState::Pending, Some(at(5)), 0));
}

fn transitions() -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for state in JobState::ALL {
        let job = Lifecycle { lost_leases: LOST_LEASES_MAX - 1, ..job_in(state) };
        for job in [&job_in(state), &job] {
            for command in commands(job.fence) {
                if let Ok(decision) = decide(job, command, at(1_000)) {
                    found.insert((state.as_str().to_owned(), decision.next.state.as_str().to_owned()));
                }
            }
        }
    }
    found.retain(|(from, to)| from != to);
    found
}

/// The drawings for whoever builds it, and those for whoever uses it.
const ARCHITECTURE: &str = include_str!("../../../ARCHITECTURE.md");
const LIFECYCLE: &str = include_str!("../../../docs/lifecycle.md");

/// The arrows of the state drawing under this heading of a document.
fn drawn(text: &str, heading: &str) -> BTreeSet<(String, String)> {
    let section = text.split_once(heading).unwrap_or_else(|| panic!("nothing is called {heading:?}")).1;
    let drawing =
        section.split_once("```mermaid").expect("a drawing").1.split_once("```").expect("its end").0;
    drawing
        .lines()
        .filter_map(|line| line.split(':').next()?.split_once("-->"))
        .map(|(from, to)| (from.trim().to_owned(), to.trim().to_owned()))
        .filter(|(from, to)| from != "[*]" && to != "[*]")
        .collect()
}

/// The texts that the CHECK of `column` in this table takes.
fn checked(table: &str, column: &str) -> BTreeSet<String> {
    let sql = include_str!("../../../migrations/export/V2__jobs.sql");
    let table = sql.split_once(&format!("CREATE TABLE {table} (")).expect("the table").1;
    let check = table
        .split_once(&format!("CHECK ({column} IN ("))
        .expect("the check")
        .1
        .split_once("))")
        .expect("its end")
        .0;
    check.split(',').map(|item| item.trim().trim_matches('\'').to_owned()).collect()
}

#[test]
fn the_drawing_of_a_job_shows_exactly_what_the_code_allows() {
    assert_eq!(drawn(ARCHITECTURE, "### The lifecycle of a job"), transitions());
    assert_eq!(drawn(LIFECYCLE, "# The life of an export"), transitions());
}

#[test]
fn the_database_takes_exactly_the_states_that_the_code_knows() {
    let jobs: BTreeSet<String> = JobState::ALL.iter().map(|state| state.as_str().to_owned()).collect();
    let attempts: BTreeSet<String> =
        AttemptState::ALL.iter().map(|state| state.as_str().to_owned()).collect();
    assert_eq!(checked("export.jobs", "state"), jobs);
    assert_eq!(checked("export.attempts", "state"), attempts);
    let candidates: BTreeSet<String> =
        CandidateState::ALL.iter().map(|state| state.as_str().to_owned()).collect();
    assert_eq!(checked("export.candidates", "state"), candidates);
    let causes: BTreeSet<String> = Cause::ALL.iter().map(|cause| cause.as_str().to_owned()).collect();
    assert_eq!(checked("export.candidates", "condemned_because"), causes);
}

#[test]
fn the_drawing_of_an_attempt_shows_exactly_what_the_code_allows() {
    let allowed: BTreeSet<(String, String)> = AttemptState::ALL
        .into_iter()
        .flat_map(|from| AttemptState::ALL.map(|to| (from, to)))
        .filter(|(from, to)| from.may_become(*to))
        .map(|(from, to)| (from.as_str().to_owned(), to.as_str().to_owned()))
        .collect();
    assert_eq!(drawn(ARCHITECTURE, "### The lifecycle of an attempt"), allowed);
}

#[test]
fn the_drawing_of_a_candidate_shows_exactly_what_the_code_allows() {
    let allowed: BTreeSet<(String, String)> = CandidateState::ALL
        .into_iter()
        .flat_map(|from| CandidateState::ALL.map(|to| (from, to)))
        .filter(|(from, to)| from.may_become(*to))
        .map(|(from, to)| (from.as_str().to_owned(), to.as_str().to_owned()))
        .collect();
    assert_eq!(drawn(ARCHITECTURE, "### The lifecycle of a candidate"), allowed);
    assert_eq!(drawn(LIFECYCLE, "## Files"), allowed);
}

#[test]
fn a_result_expires_when_its_time_is_over_and_not_before() {
    let succeeded = job_in(JobState::Succeeded);
    assert_eq!(succeeded.expires_at, Some(at(1 + RETENTION)), "counted from its completion");
    let early = decide(&succeeded, Command::Expire, at(RETENTION));
    assert_eq!(early, Err(Rejection::NotDue { until: at(1 + RETENTION) }));
    let expired = decide(&succeeded, Command::Expire, at(1 + RETENTION)).expect("its time is over");
    assert_eq!(expired.fact, Some(FactKind::Expired));
    assert_eq!(expired.next.version, succeeded.version + 1);
    let kept = Lifecycle { expires_at: None, ..succeeded };
    assert!(decide(&kept, Command::Expire, at(1_000_000)).is_err(), "what has no end is kept");
}

#[test]
fn a_result_that_is_wanted_until_a_time_expires_then_whenever_it_was_done() {
    let until = |second| Lifecycle::accepted(at(0), Kept::Until(at(second))).next;
    for (second, done) in [(100, 50), (100, 200)] {
        let running = decide(&until(second), Command::Claim { lease: LEASE }, at(0)).expect("it is due").next;
        let succeeded = decide(&running, Command::Complete { fence: 1 }, at(done)).expect("it holds").next;
        assert_eq!(succeeded.expires_at, Some(at(second)));
        assert!(decide(&succeeded, Command::Expire, at(second - 1)).is_err());
        assert!(decide(&succeeded, Command::Expire, at(second)).is_ok());
    }
}

#[test]
fn only_a_failed_export_can_be_retried_and_it_stays_as_it_is() {
    for state in JobState::ALL {
        let job = job_in(state);
        match retry(&job, at(5)) {
            Ok(decision) => {
                assert_eq!(state, JobState::Failed);
                assert_eq!(decision, Lifecycle::accepted(at(5), kept()));
            }
            Err(refused) => {
                assert_eq!(refused, Rejection::NotAllowed { state, command: "retry" });
                assert_ne!(state, JobState::Failed);
            }
        }
    }
}

#[test]
fn a_cancel_or_a_delete_that_is_refused_says_in_what_state_the_export_is() {
    for state in JobState::ALL {
        for command in [Command::Cancel, Command::Delete] {
            let Err(refused) = decide(&job_in(state), command, at(5)) else { continue };
            assert_eq!(refused, Rejection::NotAllowed { state, command: command.name() });
            assert!(refused.to_string().contains(state.as_str()), "{refused}");
        }
    }
}

proptest! {
    /// Any history of commands, taken or not.
    #[test]
    fn fences_and_versions_never_go_back_and_a_version_is_a_fact(
        history in prop::collection::vec((0_usize..12, 0_i64..4, 0_i64..100), 1..60)
    ) {
        let mut job = accepted();
        let mut now = 0;
        let mut outcomes = 0;
        for (which, fence_behind, seconds) in history {
            now += seconds;
            let command = commands(job.fence - fence_behind)[which];
            let Ok(decision) = decide(&job, command, at(now)) else { continue };
            prop_assert!(decision.next.fence >= job.fence);
            prop_assert_eq!(decision.next.version, job.version + i64::from(decision.fact.is_some()));
            if let Some((_, ended)) = decision.ended_attempt {
                prop_assert!(AttemptState::Running.may_become(ended));
            }
            outcomes += i32::from(matches!(
                decision.fact, Some(FactKind::Succeeded | FactKind::Failed | FactKind::Cancelled)
            ));
            job = decision.next;
        }
        prop_assert!(outcomes <= 1, "an outcome never changes");
    }
}
