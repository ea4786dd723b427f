//! One attempt, from its claim to its end.

use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;
use waybill_domain::ids::ExportId;
use waybill_domain::limits::{TRANSIENT_FAILURES_MAX, WORK_FAILURES_MAX};
use waybill_testkit::within;
use waybill_worker::{Claimed, Outcome, Worker, claim_next, execute};

use crate::house::House;

pub(crate) async fn claimed(worker: &Worker) -> Claimed {
    claim_next(worker).await.expect("the database answers").expect("a job is due")
}

pub(crate) async fn run_next(worker: &Worker) -> Outcome {
    Box::pin(execute(worker, &claimed(worker).await, &CancellationToken::new())).await
}

struct Result {
    bytes: Vec<u8>,
    rows: i64,
}

/// The selected file, once its stored size and digest were compared with its bytes.
async fn result(house: &House, export: &ExportId) -> Result {
    let row = house
        .admin
        .query_one(
            "SELECT object_key, rows, bytes, sha256 FROM export.candidates JOIN export.jobs
             ON candidate_id = result_candidate_id WHERE jobs.export_id = $1 AND candidates.state = 'selected'",
            &[&export.as_str()],
        )
        .await
        .expect("a result");
    let bytes = std::fs::read(house.object(row.get("object_key"))).expect("the object is there");
    assert_eq!(row.get::<_, i64>("bytes"), i64::try_from(bytes.len()).expect("it fits"));
    assert_eq!(row.get::<_, Vec<u8>>("sha256"), Sha256::digest(&bytes).to_vec());
    Result { bytes, rows: row.get("rows") }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claimed_job_ends_with_one_selected_file_of_its_tenants_rows_and_one_fact() {
    let house = House::new().await;
    let (tenant, other) = (house.tenant(2).await, house.tenant(2).await);
    house.orders(&tenant, 1000).await;
    house.orders(&other, 77).await;
    let export = house.job(&tenant, 1).await;
    assert_eq!(run_next(&house.worker("one")).await, Outcome::Succeeded);
    assert_eq!(
        house.story(&export).await,
        "succeeded v2 f1 lost 0 failed 0 result true code - | 1:succeeded:- | 1:selected | 2:succeeded"
    );
    let result = result(&house, &export).await;
    assert_eq!(result.rows, 1000);
    let mut reader = csv::Reader::from_reader(result.bytes.as_slice());
    assert_eq!(reader.headers().expect("a header"), vec!["order_id", "note", "amount", "placed_at"]);
    let records: Vec<_> = reader.records().map(|record| record.expect("it is CSV")).collect();
    assert_eq!(records.len(), 1000);
    assert_eq!(&records[4][1], "訂單與出荷 🚚");
    assert_eq!(&records[3][1], "two\nlines\r\n");
    assert_eq!(&records[0][3], "2026-03-29 01:07:00+00", "times are UTC whatever the server's zone is");
    let progress = house
        .admin
        .query_one("SELECT rows_done, rows_estimated, bytes_done, number FROM export.attempts", &[])
        .await;
    let progress = progress.expect("the attempt");
    assert_eq!(progress.get::<_, i64>(0), 1000);
    assert!(progress.get::<_, Option<i64>>(1).is_some(), "the planner was asked");
    assert_eq!(progress.get::<_, i64>("bytes_done"), i64::try_from(result.bytes.len()).expect("it fits"));
    assert_eq!(progress.get::<_, i32>("number"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn equal_rows_give_equal_bytes_whatever_the_login_role_is_set_to() {
    let house = House::new().await;
    let tenant = house.tenant(2).await;
    house.orders(&tenant, 50).await;
    let first = house.job(&tenant, 2).await;
    assert_eq!(run_next(&house.worker("one")).await, Outcome::Succeeded);
    let settings = format!(
        "ALTER ROLE waybill_worker IN DATABASE {0} SET timezone = 'Asia/Tokyo';
         ALTER ROLE waybill_worker IN DATABASE {0} SET datestyle = 'German';
         ALTER ROLE waybill_worker IN DATABASE {0} SET extra_float_digits = -3",
        house.database.name()
    );
    house.admin.batch_execute(&settings).await.expect("set");
    let second = house.job(&tenant, 1).await;
    assert_eq!(run_next(&house.worker("two")).await, Outcome::Succeeded);
    assert_eq!(result(&house, &first).await.bytes, result(&house, &second).await.bytes);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_without_rows_gets_a_file_with_a_header() {
    let house = House::new().await;
    let tenant = house.tenant(2).await;
    let export = house.job(&tenant, 1).await;
    assert_eq!(run_next(&house.worker("one")).await, Outcome::Succeeded);
    let result = result(&house, &export).await;
    assert_eq!((result.rows, result.bytes.as_slice()), (0, b"order_id,note,amount,placed_at\n".as_slice()));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_operator_must_repair_fails_the_export_at_once_with_its_reason() {
    for (breakage, code) in [
        ("DROP TABLE shop.orders", "dataset-relation-missing"),
        ("ALTER TABLE shop.orders DROP COLUMN note", "dataset-column-missing"),
        ("REVOKE SELECT ON shop.orders FROM waybill_worker", "dataset-permission-denied"),
        ("ALTER TABLE shop.orders ALTER tenant_id TYPE uuid USING NULL", "dataset-column-changed"),
        ("ALTER TABLE shop.orders ALTER amount TYPE numeric(40, 9)", "dataset-column-changed"),
    ] {
        let house = House::new().await;
        let tenant = house.tenant(2).await;
        house
            .admin
            .batch_execute("ALTER TABLE shop.orders ALTER tenant_id DROP NOT NULL")
            .await
            .expect("loose");
        house.admin.batch_execute(breakage).await.expect("broken");
        let export = house.job(&tenant, 1).await;
        assert_eq!(run_next(&house.worker("one")).await, Outcome::Failed, "{breakage}");
        let story = house.story(&export).await;
        let wanted =
            format!("failed v2 f1 lost 0 failed 0 result false code {code} | 1:failed:{code} |  | 2:failed");
        assert_eq!(story, wanted, "{breakage}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_connection_to_the_data_set_is_tried_again_later_and_fails_for_good_in_the_end() {
    let house = House::new().await;
    let worker = house.worker("one");
    let tenant = house.tenant(2).await;
    house
        .admin
        .batch_execute(
            "CREATE FUNCTION shop.cut() RETURNS boolean LANGUAGE sql SECURITY DEFINER
             AS 'SELECT pg_terminate_backend(pg_backend_pid())';
             ALTER TABLE shop.orders RENAME TO all_orders;
             CREATE VIEW shop.orders AS SELECT * FROM shop.all_orders WHERE shop.cut();
             GRANT SELECT ON shop.orders TO waybill_worker",
        )
        .await
        .expect("a view that cuts its reader off");
    house
        .admin
        .execute("INSERT INTO shop.all_orders (order_id, tenant_id) VALUES (1, $1)", &[&tenant.as_str()])
        .await
        .expect("a row");
    let export = house.job(&tenant, 1).await;
    assert_eq!(run_next(&worker).await, Outcome::FailedTransiently);
    let story = house.story(&export).await;
    assert!(story.starts_with("pending v1 f1 lost 0 failed 1"), "{story}");
    house
        .admin
        .execute("UPDATE export.jobs SET due_at = now(), transient_failures = $1", &[&TRANSIENT_FAILURES_MAX])
        .await
        .expect("it is the end of a day and more");
    run_next(&worker).await;
    let story = house.story(&export).await;
    let failures = TRANSIENT_FAILURES_MAX + 1;
    let wanted = format!("failed v2 f2 lost 0 failed {failures} result false code dataset-unavailable");
    assert!(story.starts_with(&wanted), "{story}");
    assert!(story.ends_with("2:failed"), "{story}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_that_a_standby_cancels_is_tried_a_few_times_and_fails_its_export_then() {
    let house = House::new().await;
    let worker = house.worker("one");
    let tenant = house.tenant(2).await;
    house.orders(&tenant, 5).await;
    house
        .admin
        .batch_execute(
            "CREATE FUNCTION shop.conflict() RETURNS boolean LANGUAGE plpgsql AS
             'BEGIN RAISE EXCEPTION USING ERRCODE = ''40001'', MESSAGE = ''canceling statement due to conflict with recovery''; END';
             ALTER TABLE shop.orders RENAME TO all_orders;
             CREATE VIEW shop.orders AS SELECT * FROM shop.all_orders WHERE shop.conflict();
             GRANT SELECT ON shop.orders TO waybill_worker",
        )
        .await
        .expect("a view that reads as from a standby whose replay went on");
    let export = house.job(&tenant, 1).await;
    for _ in 1..=WORK_FAILURES_MAX {
        assert_eq!(run_next(&worker).await, Outcome::FailedTransiently);
        let story = house.story(&export).await;
        assert!(story.starts_with("pending v1") && story.contains("lost 0 failed 0"), "{story}");
        house.admin.execute("UPDATE export.jobs SET due_at = now()", &[]).await.expect("due again");
    }
    run_next(&worker).await;
    let story = house.story(&export).await;
    assert!(
        story.starts_with("failed v2 f9 lost 0 failed 0 result false code snapshot-cancelled"),
        "{story}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_abandoned_attempt_gives_its_job_back_at_once() {
    let house = House::new().await;
    let worker = house.worker("one");
    let tenant = house.tenant(2).await;
    let export = house.job(&tenant, 1).await;
    let reader = claimed(&worker).await;
    house.admin.batch_execute("BEGIN; LOCK TABLE shop.orders").await.expect("the attempt cannot read");
    let abandon = CancellationToken::new();
    abandon.cancel();
    let outcome = within("the attempt ends", Box::pin(execute(&worker, &reader, &abandon))).await;
    assert_eq!(outcome, Outcome::FailedTransiently);
    house.admin.batch_execute("ROLLBACK").await.expect("unlocked");
    let story = house.story(&export).await;
    assert!(story.contains("1:failed:worker-stopped"), "{story}");
    assert!(
        story.starts_with("pending v1 f1 lost 0 failed 0"),
        "a stop uses up none of the job's tries: {story}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_whose_job_is_cancelled_stops_at_its_next_heartbeat() {
    let house = House::new().await;
    let worker = house.worker_with_lease("one", Duration::from_millis(600));
    let tenant = house.tenant(2).await;
    let export = house.job(&tenant, 1).await;
    let held = claimed(&worker).await;
    house.admin.batch_execute("BEGIN; LOCK TABLE shop.orders").await.expect("the attempt cannot read");
    let canceller = house.database.admin().await;
    canceller
        .execute(
            "UPDATE export.jobs SET state = 'cancelled', fence = fence + 1, version = 2, lease_until = NULL,
                 remind_at = NULL, finished_at = now() WHERE export_id = $1",
            &[&export.as_str()],
        )
        .await
        .expect("cancelled");
    let outcome = within("it stops", Box::pin(execute(&worker, &held, &CancellationToken::new()))).await;
    assert_eq!(outcome, Outcome::Fenced);
    house.admin.batch_execute("ROLLBACK").await.expect("unlocked");
    let story = house.story(&export).await;
    assert!(story.starts_with("cancelled v2 f2"), "{story}");
    assert!(story.contains("1:fenced:-"), "{story}");
}
