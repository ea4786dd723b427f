//! What becomes of files.

use tokio_postgres::types::Type;
use waybill_domain::candidate::Cause;
use waybill_reconciler::{Collected, RoundError};
use waybill_store::candidate::{self, AsOf, Verified};
use waybill_testkit::Plan;

use crate::house::{House, Made};

/// Older than anything that could still be at a file.
const LONG_HOURS: i32 = 14;

/// Ten years.
const FOR_EVER_HOURS: i32 = 87_600;

const NOTHING: Collected = Collected { condemned: 0, deleted: 0, contradictions: 0 };

fn is_there(house: &House, made: &Made) -> bool {
    house.file(&made.key).exists()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_orphan_is_condemned_when_it_is_old_and_deleted_when_it_has_waited_and_both_happen_once() {
    let house = House::new().await;
    for (job, attempt, candidate, cause) in [
        ("pending", "failed", "writing", "attempt-over"),
        ("cancelled", "fenced", "verified", "fenced"),
        ("pending", "lost", "verified", "fenced"),
    ] {
        let orphan = house.export(job, attempt, candidate).await;
        assert_eq!(house.collect().await, NOTHING, "it is young");
        house.age(&orphan, LONG_HOURS).await;
        assert_eq!(
            house.collect().await,
            Collected { condemned: 1, ..NOTHING },
            "{job} {attempt} {candidate}"
        );
        assert_eq!(house.candidate(&orphan).await, format!("condemned {cause}"));
        assert_eq!(house.collect().await, NOTHING, "it waits");
        assert!(is_there(&house, &orphan));
        house.age(&orphan, 1).await;
        assert_eq!(house.collect().await, Collected { deleted: 1, ..NOTHING });
        assert_eq!(house.candidate(&orphan).await, format!("deleted {cause}"));
        assert!(!is_there(&house, &orphan));
        assert_eq!(house.collect().await, NOTHING, "once");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_needed_stays_however_old_it_is() {
    let house = House::new().await;
    let needed = [
        house.export("running", "running", "writing").await,
        house.export("running", "running", "verified").await,
        house.export("succeeded", "succeeded", "selected").await,
    ];
    for made in &needed {
        house.age(made, FOR_EVER_HOURS).await;
    }
    assert_eq!(house.collect().await, NOTHING);
    assert!(needed.iter().all(|made| is_there(&house, made)));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_file_of_an_export_whose_time_is_over_goes_after_it_has_waited() {
    let house = House::new().await;
    let made = house.result(1).await;
    house.expire().await;
    assert_eq!(house.collect().await, NOTHING, "somebody may be reading it");
    house.age(&made, 1).await;
    assert_eq!(house.collect().await, Collected { deleted: 1, ..NOTHING });
    assert!(!is_there(&house, &made));
    let sql = "SELECT count(*) FROM export.jobs WHERE state = 'expired' AND result_candidate_id IS NOT NULL";
    assert_eq!(house.number(sql).await, 1, "the row stays, and says what the file was");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_condemned_and_yet_needed_is_counted_and_stays_and_hides_nothing_behind_it() {
    let house = House::new().await;
    let needed = house.export("running", "running", "condemned").await;
    let orphan = house.export("failed", "failed", "condemned").await;
    house.age(&needed, FOR_EVER_HOURS).await;
    house.age(&orphan, LONG_HOURS).await;
    let collected = house.collect().await;
    assert_eq!(collected, Collected { deleted: 1, contradictions: 1, ..NOTHING });
    assert!(is_there(&house, &needed) && !is_there(&house, &orphan));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_upload_that_never_ended_left_behind_goes_with_its_candidate() {
    let house = House::new().await;
    let orphan = house.export("pending", "lost", "writing").await;
    std::fs::remove_file(house.file(&orphan.key)).expect("there never was an object");
    let staged = format!("{}#1", orphan.key);
    house.write(&staged);
    for hours in [LONG_HOURS, 1] {
        house.age(&orphan, hours).await;
        house.collect().await;
    }
    assert_eq!(house.candidate(&orphan).await, "deleted fenced");
    assert!(!house.file(&staged).exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_the_store_will_not_let_go_hides_nothing_behind_it() {
    let house = House::new().await;
    let stuck = house.export("failed", "failed", "condemned").await;
    let orphan = house.export("failed", "failed", "condemned").await;
    for made in [&stuck, &orphan] {
        house.age(made, LONG_HOURS).await;
    }
    // No object, and yet something is in its place.
    let place = house.file(&stuck.key);
    std::fs::remove_file(&place).and_then(|()| std::fs::create_dir(&place)).expect("a directory");
    let refused = house.try_collect().await;
    assert!(matches!(refused, Err(RoundError::Objects(_))), "{refused:?}");
    assert!(!is_there(&house, &orphan));
    assert_eq!(house.candidate(&stuck).await, "condemned attempt-over");
    std::fs::remove_dir(&place).expect("removed");
    assert_eq!(house.collect().await, Collected { deleted: 1, ..NOTHING });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_whose_row_was_not_written_is_done_again() {
    let house = House::new().await;
    let orphan = house.export("failed", "failed", "condemned").await;
    house.age(&orphan, LONG_HOURS).await;
    std::fs::remove_file(house.file(&orphan.key)).expect("deleted, and then the process died");
    assert_eq!(house.collect().await, Collected { deleted: 1, ..NOTHING });
    assert_eq!(house.candidate(&orphan).await, "deleted attempt-over");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_condemned_can_never_be_verified_or_selected_any_more() {
    let house = House::new().await;
    let made = house.export("running", "running", "verified").await;
    let db = &house.admin;
    assert!(candidate::condemn(db, &made.candidate, Cause::Fenced).await.expect("an answer"));
    assert!(!candidate::condemn(db, &made.candidate, Cause::AttemptOver).await.expect("an answer"), "once");
    let selected = candidate::select(db, &made.candidate, &made.export, 1).await.expect("an answer");
    assert_eq!(selected, None);
    let file = Verified { rows: 1, bytes: 5, sha256: [0; 32] };
    assert_eq!(candidate::verify(db, &made.candidate, 1, &file).await.expect("an answer"), None);
    assert!(!candidate::begin_upload(db, &made.candidate, 1, "late").await.expect("an answer"));
    let as_of = AsOf { lsn: 7.into(), at: None };
    let again = candidate::announce(db, &made.candidate, &made.export, 1, &made.key, as_of).await;
    assert!(!again.expect("an answer"));
    assert_eq!(house.candidate(&made).await, "condemned fenced");
}

#[tokio::test(flavor = "multi_thread")]
async fn looking_for_what_may_go_reads_indexes_however_many_results_there_are() {
    let house = House::new().await;
    house.export("failed", "failed", "condemned").await;
    house
        .admin
        .batch_execute(
            "INSERT INTO export.jobs (
                 export_id, tenant_id, service_account_id, dataset, dataset_revision, format, columns, state, version, failure_code, finished_at
             )
             SELECT 'exp_' || md5(n::text), tenant_id, service_account_id, 'orders', 1, 'csv', '{id}', 'failed', 2, 'x', now()
             FROM export.service_accounts, generate_series(1, 20000) AS n;
             INSERT INTO export.attempts (export_id, fence, number, worker, state, ended_at)
             SELECT export_id, 7, 7, 'w', 'failed', now() FROM export.jobs;
             INSERT INTO export.candidates (
                 candidate_id, export_id, fence, object_key, state, rows, bytes, sha256, verified_at, condemned_at,
                 condemned_because, deleted_at
             )
             SELECT 'can_' || md5(export_id), export_id, 7, export_id, kind.state, 1, 1, sha256('x'), now(), kind.at,
                 CASE WHEN kind.at IS NOT NULL THEN 'fenced' END, CASE kind.state WHEN 'deleted' THEN now() END
             FROM (SELECT export_id, row_number() OVER () AS n FROM export.jobs) AS job,
                 LATERAL (SELECT CASE n % 100 WHEN 1 THEN 'verified' WHEN 2 THEN 'condemned' ELSE 'deleted' END) AS s (state),
                 LATERAL (SELECT s.state, CASE WHEN s.state <> 'verified' THEN now() END) AS kind (state, at);
             ANALYZE export.jobs; ANALYZE export.attempts; ANALYZE export.candidates",
        )
        .await
        .expect("seeded");
    let unneeded = include_str!("../../../../crates/store/src/collection/unneeded.sql");
    let plan = Plan::of(&house.admin, unneeded, &[(&0_i64, Type::INT8), (&20_i64, Type::INT8)]).await;
    plan.must_use(&["candidates_unselected"], &[]);
    let condemned = include_str!("../../../../crates/store/src/collection/condemned.sql");
    let (since, id) = (jiff::Timestamp::UNIX_EPOCH, "");
    let parameters: [(&(dyn tokio_postgres::types::ToSql + Sync), Type); 4] =
        [(&0_i64, Type::INT8), (&since, Type::TIMESTAMPTZ), (&id, Type::TEXT), (&20_i64, Type::INT8)];
    let plan = Plan::of(&house.admin, condemned, &parameters).await;
    plan.must_use(&["candidates_condemned"], &[]);
}
