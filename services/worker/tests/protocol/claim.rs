//! The claim: fair, bounded, fenced.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::Barrier;
use waybill_domain::ids::ExportId;
use waybill_store::claim;
use waybill_testkit::{eventually, within};
use waybill_worker::{Claimed, Worker, claim_next};

use crate::house::House;

async fn claimed(worker: &Worker) -> Option<Claimed> {
    claim_next(worker).await.expect("the database answers")
}

async fn claimed_id(worker: &Worker) -> Option<ExportId> {
    claimed(worker).await.map(|claimed| claimed.job.export_id)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tenant_with_the_fewest_running_jobs_is_next_and_then_the_one_that_waited_longest() {
    let house = House::new().await;
    let worker = house.worker("one");
    let (loud, quiet) = (house.tenant(10).await, house.tenant(10).await);
    for age in (1..=4).rev() {
        house.job(&loud, 1000 + age).await;
    }
    for age in (1..=2).rev() {
        house.job(&quiet, age).await;
    }
    let mut order = Vec::new();
    while let Some(claimed) = claimed(&worker).await {
        order.push(claimed.job.tenant_id == quiet);
    }
    assert_eq!(
        order,
        [false, true, false, true, false, false],
        "a later, smaller backlog waits for a turn only"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenants_oldest_due_job_is_first_and_one_that_is_not_due_waits() {
    let house = House::new().await;
    let worker = house.worker("one");
    let tenant = house.tenant(10).await;
    let (young, old) = (house.job(&tenant, 5).await, house.job(&tenant, 50).await);
    house.job(&tenant, -3600).await;
    assert_eq!(claimed_id(&worker).await, Some(old));
    assert_eq!(claimed_id(&worker).await, Some(young));
    assert_eq!(claimed_id(&worker).await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_whose_lease_ran_out_is_not_behind_the_backlog() {
    let house = House::new().await;
    let worker = house.worker("one");
    let tenant = house.tenant(1).await;
    let lost = house.job(&tenant, 500).await;
    assert_eq!(claimed_id(&worker).await, Some(lost.clone()));
    let waiting = house.job(&tenant, 400).await;
    house.lapse(&lost).await;
    assert_eq!(claimed_id(&worker).await, Some(lost), "the other one is due for longer");
    house.admin.execute("UPDATE export.tenants SET running_limit = 2", &[]).await.expect("another slot");
    assert_eq!(claimed_id(&worker).await, Some(waiting));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspended_tenant_has_no_turn() {
    let house = House::new().await;
    let tenant = house.tenant(10).await;
    house.job(&tenant, 5).await;
    house.admin.execute("UPDATE export.tenants SET state = 'suspended'", &[]).await.expect("suspended");
    assert_eq!(claimed_id(&house.worker("one")).await, None);
}

/// What so many workers take that begin in the same moment, each until it is given nothing.
async fn taken_at_once(house: &House, claimants: usize) -> Vec<ExportId> {
    let barrier = Arc::new(Barrier::new(claimants));
    let tasks: Vec<_> = (0..claimants)
        .map(|n| {
            let (worker, barrier) = (house.worker(&format!("worker-{n}")), Arc::clone(&barrier));
            tokio::spawn(async move {
                barrier.wait().await;
                let mut taken = Vec::new();
                while let Some(id) = claimed_id(&worker).await {
                    taken.push(id);
                }
                taken
            })
        })
        .collect();
    let mut taken = Vec::new();
    for task in tasks {
        taken.extend(task.await.expect("no panic"));
    }
    taken
}

#[tokio::test(flavor = "multi_thread")]
async fn many_workers_at_once_never_run_more_than_a_tenant_may_nor_one_job_twice() {
    for (slots, claimants) in [(3, 8), (1, 50)] {
        let house = House::new().await;
        let tenant = house.tenant(slots).await;
        for age in 0..12 {
            house.job(&tenant, age).await;
        }
        let taken = taken_at_once(&house, claimants).await;
        let distinct: BTreeSet<_> = taken.iter().collect();
        let running = claim::running(&house.admin, &tenant).await.expect("a count");
        let wanted = usize::try_from(slots).expect("a few");
        assert_eq!((taken.len(), distinct.len(), running), (wanted, wanted, i64::from(slots)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_in_another_claims_hands_is_passed_over_and_its_slots_are_counted_again_under_the_lock() {
    let house = House::new().await;
    let (held, free) = (house.tenant(1).await, house.tenant(1).await);
    house.job(&held, 100).await;
    house.job(&held, 90).await;
    let second = house.job(&free, 1).await;
    let mut holder = house.database.role("worker").await;
    let tx = holder.transaction().await.expect("a transaction");
    let turn = claim::next_tenant(&tx, &[]).await.expect("an answer").expect("a tenant is due");
    assert_eq!(turn.tenant_id, held);
    assert_eq!(claimed_id(&house.worker("other")).await, Some(second), "nobody waits for a lock");
    let due = claim::due_job(&tx, &held).await.expect("an answer").expect("a job is due");
    tx.rollback().await.expect("rolled back");
    assert_eq!(
        claimed_id(&house.worker("other")).await,
        Some(due.job.export_id),
        "what was let go can be taken"
    );
    assert_eq!(claim::running(&house.admin, &held).await.expect("a count"), 1);
    assert_eq!(claimed_id(&house.worker("third")).await, None, "the one slot is taken");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_that_saw_a_free_slot_before_another_took_it_counts_again_under_the_lock() {
    const GATE: i64 = 42;
    let house = House::new().await;
    let tenant = house.tenant(1).await;
    let (first, second) = (house.job(&tenant, 100).await, house.job(&tenant, 1).await);
    // Whoever reads jobs as the worker waits at the gate in the middle of its statement, its snapshot already taken.
    let gate = format!(
        "CREATE FUNCTION export.gate() RETURNS boolean LANGUAGE plpgsql
         AS 'BEGIN PERFORM pg_advisory_xact_lock_shared({GATE}); RETURN true; END';
         ALTER TABLE export.jobs ENABLE ROW LEVEL SECURITY;
         CREATE POLICY gate ON export.jobs TO waybill_worker USING (export.gate());
         SELECT pg_advisory_lock({GATE})"
    );
    house.admin.batch_execute(&gate).await.expect("the gate is shut");
    let late = house.worker("late");
    let late = tokio::spawn(async move { claimed_id(&late).await });
    let waiting = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
                   AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    eventually("it has looked and waits", async || house.admin.query_opt(waiting, &[]).await.expect("locks"))
        .await;
    house
        .admin
        .execute(
            "UPDATE export.jobs SET state = 'running', fence = 1, due_at = NULL, lease_until = now() + interval '1 hour'
             WHERE export_id = $1",
            &[&first.as_str()],
        )
        .await
        .expect("another claim takes the one slot");
    house.admin.query_one("SELECT pg_advisory_unlock($1)", &[&GATE]).await.expect("the gate opens");
    assert_eq!(within("it ends", late).await.expect("no panic"), None, "{second} has no slot");
    assert_eq!(claim::running(&house.admin, &tenant).await.expect("a count"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_acceptance_under_way_neither_blocks_a_claim_nor_hides_its_tenant() {
    let house = House::new().await;
    let tenant = house.tenant(2).await;
    let due = house.job(&tenant, 1).await;
    house.admin.batch_execute("BEGIN").await.expect("a transaction");
    house.job(&tenant, 1).await;
    assert_eq!(claimed_id(&house.worker("one")).await, Some(due));
    house.admin.batch_execute("ROLLBACK").await.expect("rolled back");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lapsed_lease_is_taken_over_under_the_next_fence_even_with_the_tenants_only_slot() {
    let house = House::new().await;
    let tenant = house.tenant(1).await;
    let export = house.job(&tenant, 1).await;
    let first = claimed(&house.worker("first")).await.expect("due");
    assert_eq!(claimed_id(&house.worker("second")).await, None, "a live lease is respected");
    house.lapse(&export).await;
    let second = claimed(&house.worker("second")).await.expect("lapsed");
    assert_eq!((first.fence(), second.fence()), (1, 2));
    assert_eq!(
        house.story(&export).await,
        "running v1 f2 lost 1 failed 0 result false code - | 1:lost:lease-lost 2:running:- |  | "
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_loses_its_lease_too_often_is_quarantined_and_others_go_on() {
    let house = House::new().await;
    let worker = house.worker("one");
    let tenant = house.tenant(10).await;
    let poison = house.job(&tenant, 100).await;
    for _ in 0..waybill_domain::limits::LOST_LEASES_MAX {
        assert_eq!(claimed_id(&worker).await.as_ref(), Some(&poison));
        house.lapse(&poison).await;
    }
    let sound = house.job(&tenant, 1).await;
    assert_eq!(claimed_id(&worker).await, Some(sound), "the same look goes on to the next job");
    let story = house.story(&poison).await;
    assert!(story.starts_with("quarantined v1 f4 lost 3"), "{story}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_claims_statements_read_indexes_and_never_the_whole_of_jobs() {
    let house = House::new().await;
    for _ in 0..20 {
        house.tenant(2).await;
    }
    house
        .admin
        .batch_execute(
            "INSERT INTO export.jobs (
                 export_id, tenant_id, service_account_id, dataset, dataset_revision, format, columns, state, version, fence, lease_until,
                 due_at, remind_at, failure_code, finished_at
             )
             SELECT 'exp_' || md5(account.tenant_id || n), account.tenant_id, account.service_account_id, 'orders', 1, 'csv',
                 '{order_id}', kind.state, 2, 1, CASE kind.state WHEN 'running' THEN now() END,
                 CASE kind.state WHEN 'pending' THEN now() END,
                 CASE WHEN kind.state <> 'failed' THEN now() END,
                 CASE kind.state WHEN 'failed' THEN 'x' END, CASE kind.state WHEN 'failed' THEN now() END
             FROM export.service_accounts AS account, generate_series(1, 1500) AS n,
                 LATERAL (SELECT CASE n % 100 WHEN 0 THEN 'running' WHEN 1 THEN 'pending' ELSE 'failed' END AS state) AS kind;
             ANALYZE export.jobs; ANALYZE export.tenants",
        )
        .await
        .expect("seeded");
    let tenant = house.admin.query_one("SELECT min(tenant_id) FROM export.tenants", &[]).await.expect("one");
    let tenant = format!("'{}'", tenant.get::<_, String>(0));
    let statements = [
        include_str!("../../../../crates/store/src/claim/next_tenant.sql")
            .replace("$1::text[]", "'{}'::text[]"),
        include_str!("../../../../crates/store/src/claim/running.sql").replace("$1", &tenant),
        include_str!("../../../../crates/store/src/claim/due_job.sql").replace("$1", &tenant),
    ];
    for statement in statements {
        let plan: Vec<String> = house
            .admin
            .query(&format!("EXPLAIN (COSTS OFF)\n{statement}"), &[])
            .await
            .expect("a plan")
            .iter()
            .map(|row| row.get(0))
            .collect();
        let plan = plan.join("\n");
        assert!(!plan.contains("Seq Scan on jobs"), "{plan}");
        assert!(plan.contains("_of_tenant"), "{plan}");
    }
}
