//! Each write of a claimant: once, twice in a row, and from a zombie.

use tokio_postgres::types::PgLsn;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use waybill_domain::attempt::AttemptState;
use waybill_domain::ids::{CandidateId, ExportId};
use waybill_store::attempt::{self, Progress};
use waybill_store::candidate::{self, AsOf, Candidate, CandidateState, Verified};
use waybill_worker::{Claimed, Outcome, Settled, Worker, claim_next, complete, execute};

use crate::house::House;

pub(crate) const PROGRESS: Progress = Progress { rows_done: 3, rows_estimated: Some(3), bytes_done: 30 };

const FILE: Verified = Verified { rows: 3, bytes: 30, sha256: [7; 32] };

async fn claimed(worker: &Worker) -> Claimed {
    claim_next(worker).await.expect("the database answers").expect("a job is due")
}

fn as_of() -> AsOf {
    AsOf { lsn: PgLsn::from(7), at: None }
}

/// A verified candidate of this claim, as if its file had been made.
pub(crate) async fn verified(house: &House, claimed: &Claimed) -> Candidate {
    let id = CandidateId::from_uuid(Uuid::now_v7());
    let (export, fence) = (&claimed.job.export_id, claimed.fence());
    assert!(
        candidate::announce(&house.admin, &id, export, fence, id.as_str(), as_of()).await.expect("announced")
    );
    candidate::verify(&house.admin, &id, fence, &FILE).await.expect("an answer").expect("it is writing")
}

/// A job that the first worker claimed and the second took over.
async fn taken_over(house: &House) -> (ExportId, Claimed, Candidate, Claimed) {
    let tenant = house.tenant(1).await;
    let export = house.job(&tenant, 1).await;
    let zombie = claimed(&house.worker("zombie")).await;
    let candidate = verified(house, &zombie).await;
    house.lapse(&export).await;
    let heir = claimed(&house.worker("heir")).await;
    (export, zombie, candidate, heir)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_zombies_completion_changes_nothing_and_publishes_nothing() {
    let house = House::new().await;
    let (export, zombie, candidate, _heir) = taken_over(&house).await;
    let before = house.outbox_rows().await;
    let settled = complete(&house.worker("zombie"), &zombie, &candidate, PROGRESS).await.expect("an answer");
    assert!(matches!(settled, Settled::Fenced(_)), "{settled:?}");
    assert_eq!(house.outbox_rows().await, before);
    assert_eq!(
        house.story(&export).await,
        "running v1 f2 lost 1 failed 0 result false code - | 1:fenced:lease-lost 2:running:- | 1:verified | "
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_zombie_that_comes_after_the_heirs_result_leaves_it_alone() {
    let house = House::new().await;
    let (export, zombie, candidate, heir) = taken_over(&house).await;
    assert_eq!(
        Box::pin(execute(&house.worker("heir"), &heir, &CancellationToken::new())).await,
        Outcome::Succeeded
    );
    let (before, rows) = (house.story(&export).await, house.outbox_rows().await);
    let settled = complete(&house.worker("zombie"), &zombie, &candidate, PROGRESS).await.expect("an answer");
    assert!(matches!(settled, Settled::Fenced(_)), "{settled:?}");
    assert_eq!(house.outbox_rows().await, rows);
    assert_eq!(house.story(&export).await, before.replace("1:lost", "1:fenced"), "only it knows more now");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_completion_whose_answer_was_lost_is_recognised_and_published_once() {
    let house = House::new().await;
    let worker = house.worker("one");
    let export = house.job(&house.tenant(1).await, 1).await;
    let held = claimed(&worker).await;
    let candidate = verified(&house, &held).await;
    for _ in 0..2 {
        let settled = complete(&worker, &held, &candidate, PROGRESS).await.expect("an answer");
        assert!(matches!(settled, Settled::Recorded(_)), "{settled:?}");
    }
    assert_eq!(house.outbox_rows().await, 1);
    assert_eq!(
        house.story(&export).await,
        "succeeded v2 f1 lost 0 failed 0 result true code - | 1:succeeded:- | 1:selected | 2:succeeded"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_completion_after_a_cancel_loses() {
    let house = House::new().await;
    let worker = house.worker("one");
    let export = house.job(&house.tenant(1).await, 1).await;
    let held = claimed(&worker).await;
    let candidate = verified(&house, &held).await;
    house
        .admin
        .execute(
            "UPDATE export.jobs SET state = 'cancelled', fence = fence + 1, version = 2, lease_until = NULL,
                 remind_at = NULL, finished_at = now() WHERE export_id = $1",
            &[&export.as_str()],
        )
        .await
        .expect("cancelled");
    let settled = complete(&worker, &held, &candidate, PROGRESS).await.expect("an answer");
    assert!(matches!(settled, Settled::Fenced(_)), "{settled:?}");
    assert_eq!(house.outbox_rows().await, 0);
    let story = house.story(&export).await;
    assert!(story.starts_with("cancelled v2 f2") && story.contains("| 1:verified |"), "{story}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_zombies_heartbeat_renews_nothing() {
    let house = House::new().await;
    let (export, zombie, _candidate, heir) = taken_over(&house).await;
    let lease = async || {
        let row = house.admin.query_one("SELECT lease_until FROM export.jobs", &[]).await.expect("the job");
        row.get::<_, jiff::Timestamp>(0)
    };
    let before = lease().await;
    let beat = attempt::heartbeat(&house.admin, &export, zombie.fence(), 3_600_000, PROGRESS).await;
    assert!(!beat.expect("an answer"));
    assert_eq!(lease().await, before);
    for _ in 0..2 {
        let beat = attempt::heartbeat(&house.admin, &export, heir.fence(), 3_600_000, PROGRESS).await;
        assert!(beat.expect("an answer"));
    }
    assert!(lease().await > before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_that_is_over_is_not_renewed_though_nobody_took_the_job_over() {
    let house = House::new().await;
    let tenant = house.tenant(1).await;
    let first = house.job(&tenant, 50).await;
    let held = claim_next(&house.worker("one")).await.expect("an answer").expect("a job is due");
    assert_eq!(held.job.export_id, first);
    house.lapse(&first).await;
    // The tenant's slot is free: a heartbeat that revived the lease could make two run where one may.
    let beat = attempt::heartbeat(&house.admin, &first, held.fence(), 3_600_000, PROGRESS).await;
    assert!(!beat.expect("an answer"));
    let story = house.story(&first).await;
    assert!(story.starts_with("running v1 f1"), "nobody took it over: {story}");
    let heir = claim_next(&house.worker("two")).await.expect("an answer").expect("a lapsed job is due");
    assert_eq!((heir.job.export_id.clone(), heir.fence()), (first, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_zombie_can_neither_announce_nor_verify_nor_select_a_candidate() {
    let house = House::new().await;
    let (export, zombie, verified, heir) = taken_over(&house).await;
    let (db, fence) = (&house.admin, zombie.fence());
    let fresh = CandidateId::from_uuid(Uuid::now_v7());
    assert!(!candidate::announce(db, &fresh, &export, fence, "late", as_of()).await.expect("an answer"));
    assert_eq!(candidate::verify(db, &verified.candidate_id, fence, &FILE).await.expect("an answer"), None);
    let (again, key) = (&verified.candidate_id, verified.object_key.as_str());
    assert!(!candidate::announce(db, again, &export, fence, key, as_of()).await.expect("an answer"));
    let selected = candidate::select(db, &verified.candidate_id, &export, heir.fence()).await;
    assert_eq!(selected.expect("an answer"), None, "what one generation wrote is no result of another");
    assert_eq!(candidate::find(db, &verified.candidate_id).await.expect("an answer"), Some(verified));
    assert_eq!(candidate::find(db, &fresh).await.expect("an answer"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_write_of_a_candidate_happens_once() {
    let house = House::new().await;
    house.job(&house.tenant(1).await, 1).await;
    let held = claimed(&house.worker("one")).await;
    let (export, fence) = (&held.job.export_id, held.fence());
    let id = CandidateId::from_uuid(Uuid::now_v7());
    for key in ["a key", "a key"] {
        assert!(
            candidate::announce(&house.admin, &id, export, fence, key, as_of()).await.expect("an answer")
        );
    }
    let other = candidate::announce(&house.admin, &id, export, fence, "another key", as_of()).await;
    assert!(!other.expect("an answer"), "what was announced stays as it was");
    let candidate = verified(&house, &held).await;
    let again = candidate::verify(&house.admin, &candidate.candidate_id, fence, &FILE).await;
    assert_eq!(again.expect("an answer").as_ref(), Some(&candidate), "a lost answer is given again");
    let file = Verified { rows: 9, bytes: 90, sha256: [9; 32] };
    let again = candidate::verify(&house.admin, &candidate.candidate_id, fence, &file).await;
    assert_eq!(again.expect("an answer"), None, "what was verified stays as it was");
    let late =
        candidate::announce(&house.admin, &candidate.candidate_id, export, fence, id.as_str(), as_of()).await;
    assert!(!late.expect("an answer"), "nor is it announced again");
    let selected = candidate::select(&house.admin, &candidate.candidate_id, export, fence).await;
    assert_eq!(selected.expect("an answer").map(|candidate| candidate.state), Some(CandidateState::Selected));
    let again = candidate::select(&house.admin, &candidate.candidate_id, export, fence).await;
    assert_eq!(again.expect("an answer"), None);
    let second = verified(&house, &held).await;
    let two = candidate::select(&house.admin, &second.candidate_id, export, fence).await;
    assert!(two.is_err(), "the index lets no export have two results");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_ends_once_and_only_a_lost_one_may_still_learn_that_it_was_fenced() {
    let house = House::new().await;
    let (export, zombie, _candidate, heir) = taken_over(&house).await;
    let end = async |fence, state| {
        attempt::end(&house.admin, &export, fence, state, None).await.expect("an answer")
    };
    assert!(!end(zombie.fence(), AttemptState::Succeeded).await);
    assert!(!end(zombie.fence(), AttemptState::Failed).await);
    assert!(end(zombie.fence(), AttemptState::Fenced).await);
    assert!(!end(zombie.fence(), AttemptState::Fenced).await);
    assert!(end(heir.fence(), AttemptState::Failed).await);
    assert!(!end(heir.fence(), AttemptState::Failed).await);
    assert!(!end(heir.fence(), AttemptState::Fenced).await);
}
