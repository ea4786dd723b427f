//! When a candidate may go, as sentences.

use jiff::{SignedDuration, Timestamp};
use waybill_domain::attempt::AttemptState;
use waybill_domain::candidate::{CandidateState, Cause, Patience, Reason, Standing, Verdict, judge};
use waybill_domain::job::JobState;

const PATIENCE: Patience = Patience {
    collect_after: SignedDuration::from_secs(1_000),
    condemned_for: SignedDuration::from_secs(100),
};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).expect("a time within the calendar")
}

/// Written at 0 by the attempt that still runs.
const fn writing() -> Standing {
    Standing {
        state: CandidateState::Writing,
        created_at: Timestamp::UNIX_EPOCH,
        condemned_at: None,
        attempt: AttemptState::Running,
        fence: 1,
        job: JobState::Running,
        job_fence: 1,
        is_result: false,
    }
}

fn orphan(attempt: AttemptState) -> Standing {
    Standing { created_at: at(0), attempt, job: JobState::Pending, ..writing() }
}

/// Every combination of what the rows can say, none of it forbidden by another rule than [`judge`].
fn every_standing() -> Vec<Standing> {
    let mut standings = Vec::new();
    for state in CandidateState::ALL {
        for attempt in AttemptState::ALL {
            for job in JobState::ALL {
                for job_fence in [1, 2] {
                    for is_result in [false, true] {
                        let condemned_at = (state == CandidateState::Condemned).then(|| at(0));
                        let created_at = at(0);
                        standings.push(Standing {
                            state,
                            created_at,
                            condemned_at,
                            attempt,
                            fence: 1,
                            job,
                            job_fence,
                            is_result,
                        });
                    }
                }
            }
        }
    }
    standings
}

#[test]
fn what_an_attempt_may_still_need_is_kept_however_old_it_is() {
    for state in [CandidateState::Writing, CandidateState::Verified] {
        let candidate = Standing { state, ..writing() };
        assert_eq!(judge(&candidate, PATIENCE, at(1_000_000)), Verdict::Keep(Reason::AttemptRuns));
    }
}

#[test]
fn the_result_of_an_export_is_kept_until_the_export_expires_or_is_deleted() {
    let result =
        Standing { state: CandidateState::Selected, is_result: true, ..orphan(AttemptState::Succeeded) };
    let verdict = |job| judge(&Standing { job, ..result }, PATIENCE, at(1_000_000));
    assert_eq!(verdict(JobState::Succeeded), Verdict::Keep(Reason::Result));
    assert_eq!(verdict(JobState::Expired), Verdict::Condemn(Cause::ExportExpired));
    assert_eq!(verdict(JobState::Deleted), Verdict::Condemn(Cause::ExportDeleted));
}

#[test]
fn what_nobody_needs_is_condemned_when_it_is_old_enough_and_deleted_when_it_has_waited() {
    let orphan = orphan(AttemptState::Failed);
    let young = judge(&orphan, PATIENCE, at(999));
    assert_eq!(young, Verdict::Keep(Reason::TooYoung { until: at(1_000) }));
    assert_eq!(judge(&orphan, PATIENCE, at(1_000)), Verdict::Condemn(Cause::AttemptOver));
    let condemned = Standing { state: CandidateState::Condemned, condemned_at: Some(at(1_000)), ..orphan };
    let waits = judge(&condemned, PATIENCE, at(1_099));
    assert_eq!(waits, Verdict::Keep(Reason::Waits { until: at(1_100) }));
    assert_eq!(judge(&condemned, PATIENCE, at(1_100)), Verdict::Delete(Cause::AttemptOver));
    let deleted = Standing { state: CandidateState::Deleted, ..condemned };
    assert_eq!(judge(&deleted, PATIENCE, at(1_100)), Verdict::Gone);
}

#[test]
fn a_zombies_candidate_may_go_because_of_its_fence_alone() {
    let zombie = Standing { job_fence: 2, created_at: at(0), ..writing() };
    assert_eq!(judge(&zombie, PATIENCE, at(1_000)), Verdict::Condemn(Cause::Fenced));
}

#[test]
fn what_is_condemned_and_yet_needed_is_never_deleted() {
    let condemned = Standing {
        state: CandidateState::Condemned,
        condemned_at: Some(at(0)),
        created_at: at(0),
        ..writing()
    };
    assert_eq!(judge(&condemned, PATIENCE, at(1_000_000)), Verdict::Keep(Reason::Contradiction));
}

#[test]
fn age_alone_never_changes_what_the_rows_say() {
    for candidate in every_standing() {
        let old = judge(&candidate, PATIENCE, at(1_000_000));
        let needed = (candidate.is_result && !matches!(candidate.job, JobState::Expired | JobState::Deleted))
            || (!candidate.is_result
                && candidate.attempt == AttemptState::Running
                && candidate.job_fence == candidate.fence);
        let goes = matches!(old, Verdict::Condemn(_) | Verdict::Delete(_));
        assert!(!(needed && goes), "{candidate:?}: {old:?}");
        assert!(needed || goes || old == Verdict::Gone, "{candidate:?} stays for ever: {old:?}");
    }
}

#[test]
fn a_verdict_is_a_step_of_the_lifecycle() {
    for candidate in every_standing() {
        match judge(&candidate, PATIENCE, at(1_000_000)) {
            Verdict::Condemn(_) => assert!(candidate.state.may_become(CandidateState::Condemned)),
            Verdict::Delete(_) => assert!(candidate.state.may_become(CandidateState::Deleted)),
            Verdict::Keep(_) | Verdict::Gone => {}
        }
    }
}
