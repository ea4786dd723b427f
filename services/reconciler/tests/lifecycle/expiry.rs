//! The end of a result's time.

use std::sync::Arc;

use tokio::sync::Barrier;
use tokio_postgres::types::Type;
use waybill_testkit::Plan;

use crate::house::{EXPORTS_MAX, House};

async fn story(house: &House, export: &str) -> String {
    let sql = "SELECT format('%s v%s %s', state, version,
                   (SELECT string_agg(version || ':' || replace(type, 'waybill.export.', ''), ' ')
                    FROM export.facts WHERE export_id = jobs.export_id))
               FROM export.jobs WHERE export_id = $1";
    house.admin.query_one(sql, &[&export]).await.expect("the export").get(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_whose_time_is_over_expires_once_with_its_fact_and_its_file_goes_to_the_collector() {
    let house = House::new().await;
    let (over, not_yet) = (house.result(1).await, house.result(-3_600).await);
    let kept = house.export("succeeded", "succeeded", "selected").await;
    assert_eq!(house.expire().await, 1);
    assert_eq!(story(&house, over.export.as_str()).await, "expired v3 3:expired");
    assert_eq!(house.candidate(&over).await, "condemned export-expired");
    for untouched in [&not_yet, &kept] {
        assert_eq!(story(&house, untouched.export.as_str()).await, "succeeded v2 ");
        assert_eq!(house.candidate(untouched).await, "selected");
    }
    assert_eq!(house.expire().await, 0, "once");
    assert_eq!(
        house.number("SELECT count(*) FROM outbox.events WHERE topic = 'test.waybill.export.events'").await,
        1
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn two_reconcilers_side_by_side_expire_each_export_once() {
    let house = Arc::new(House::new().await);
    let exports = 4 * EXPORTS_MAX;
    for _ in 0..exports {
        house.result(1).await;
    }
    let barrier = Arc::new(Barrier::new(2));
    let rounds = [(); 2].map(|()| {
        let (house, barrier) = (Arc::clone(&house), Arc::clone(&barrier));
        tokio::spawn(async move {
            barrier.wait().await;
            house.expire().await
        })
    });
    let mut expired = 0;
    for round in rounds {
        expired += round.await.expect("no panic");
    }
    // One may have passed over rows that the other held: what is left comes next.
    expired += house.expire().await;
    assert_eq!(i64::try_from(expired), Ok(exports));
    assert_eq!(house.number("SELECT count(*) FROM export.facts").await, exports);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_that_somebody_decides_about_is_passed_over() {
    let house = House::new().await;
    let made = house.result(1).await;
    let mut owner = house.database.role("api").await;
    let tx = owner.transaction().await.expect("a transaction");
    waybill_store::job::lock(&tx, &made.export).await.expect("an answer").expect("it is there");
    assert_eq!(house.expire().await, 0);
    tx.rollback().await.expect("rolled back");
    assert_eq!(house.expire().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn looking_for_results_whose_time_is_over_reads_their_index() {
    let house = House::new().await;
    house.result(1).await;
    house
        .admin
        .batch_execute(
            "INSERT INTO export.jobs (
                 export_id, tenant_id, service_account_id, dataset, dataset_revision, format, columns, state, version, result_candidate_id,
                 expires_at, finished_at
             )
             SELECT 'exp_' || md5(n::text), tenant_id, service_account_id, 'orders', 1, 'csv', '{id}',
                 CASE n % 10 WHEN 1 THEN 'succeeded' ELSE 'expired' END, 2, candidate_id,
                 now() + (n - 10000) * interval '1 minute', now()
             FROM export.service_accounts, export.candidates, generate_series(1, 20000) AS n;
             ANALYZE export.jobs",
        )
        .await
        .expect("seeded");
    let statement = include_str!("../../../../crates/store/src/expiry/due.sql");
    Plan::of(&house.admin, statement, &[(&EXPORTS_MAX, Type::INT8)]).await.must_use(&["jobs_to_expire"], &[]);
}
