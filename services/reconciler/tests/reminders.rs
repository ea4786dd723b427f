//! Reminders and partitions on a real Postgres.

use std::sync::Arc;

use deadpool_postgres::{Manager, Pool};
use tokio::sync::Barrier;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, NoTls};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use waybill_domain::ids::{ExportId, ServiceAccountId, TenantId};
use waybill_publication::Publisher;
use waybill_reconciler::remind;
use waybill_store::overdue::Reminders;
use waybill_testkit::{Plan, TestDatabase};

const REMINDERS: Reminders = Reminders { jobs_max: 3, remind_after_ms: 15_000, remind_after_max_ms: 300_000 };

struct House {
    database: TestDatabase,
    admin: Client,
    publisher: Publisher,
    tenant: TenantId,
}

impl House {
    async fn new() -> Self {
        let database = TestDatabase::fresh().await;
        let admin = database.admin().await;
        let tenant = TenantId::from_uuid(Uuid::now_v7());
        let account = ServiceAccountId::from_uuid(Uuid::now_v7());
        let made = format!(
            "INSERT INTO export.tenants (tenant_id, name) VALUES ('{tenant}', 'a');
             INSERT INTO export.service_accounts (service_account_id, tenant_id, name) VALUES ('{account}', '{tenant}', 'b');
             INSERT INTO export.dataset_revisions (dataset, revision, declaration, columns, applied_by)
             VALUES ('orders', 1, '{{}}', '[]', 'a test')"
        );
        admin.batch_execute(&made).await.expect("a tenant");
        let publisher = Publisher::new("urn:waybill:test", "test.").expect("source and prefix are fine");
        Self { database, admin, publisher, tenant }
    }

    fn pool(&self) -> Pool {
        let config = self.database.role_url("reconciler").parse().expect("the testkit's address is one");
        Pool::builder(Manager::new(config, NoTls)).max_size(4).build().expect("no timeouts are set")
    }

    /// A job whose due time (or lease, when running) and the time that reminders count from are so many seconds past.
    async fn job(&self, state: &str, since_seconds: i32, remind_since_seconds: i32) -> ExportId {
        let export = ExportId::from_uuid(Uuid::now_v7());
        self.admin
            .execute(
                "INSERT INTO export.jobs (
                     export_id, tenant_id, service_account_id, dataset, dataset_revision, format, columns, state, version, fence,
                     due_at, lease_until, remind_at
                 )
                 SELECT $1, tenant_id, service_account_id, 'orders', 1, 'csv', '{id}', $2, 1, 1,
                     CASE $2 WHEN 'pending' THEN now() - make_interval(secs => $3::integer) END,
                     CASE $2 WHEN 'running' THEN now() - make_interval(secs => $3::integer) END,
                     now() - make_interval(secs => $4::integer)
                 FROM export.service_accounts",
                &[&export.as_str(), &state, &since_seconds, &remind_since_seconds],
            )
            .await
            .expect("a job");
        export
    }

    async fn remind(&self) -> usize {
        remind(&self.pool(), &self.publisher, &REMINDERS, &CancellationToken::new()).await.expect("a round")
    }

    /// Whose commands were written again, and how many rows the outbox has for them.
    async fn commanded(&self) -> (Vec<String>, i64) {
        let rows = self
            .admin
            .query("SELECT export_id FROM export.commands WHERE reason = 'overdue' ORDER BY export_id", &[])
            .await
            .expect("commands");
        let outbox = self.admin.query_one(
            "SELECT count(*) FROM outbox.events WHERE topic = 'test.waybill.export.commands'",
            &[],
        );
        (rows.iter().map(|row| row.get(0)).collect(), outbox.await.expect("a count").get(0))
    }

    async fn next_reminder_seconds(&self, export: &ExportId) -> i32 {
        let row = self
            .admin
            .query_one(
                "SELECT round(extract(epoch FROM remind_at - now()) + $2::bigint / 1000)::integer
                 FROM export.jobs WHERE export_id = $1",
                &[&export.as_str(), &REMINDERS.remind_after_ms],
            )
            .await;
        row.expect("the job").get(0)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_nothing_moved_in_time_gets_its_command_again_and_its_due_time_is_left_alone() {
    let house = House::new().await;
    let (pending, lapsed) = (house.job("pending", 20, 20).await, house.job("running", 20, 20).await);
    house.job("running", -20, 20).await;
    house.job("pending", -20, 20).await;
    house.job("pending", 10, 10).await;
    house.job("pending", 40, 10).await;
    let due = "SELECT string_agg(concat(due_at, lease_until), ' ' ORDER BY export_id) FROM export.jobs";
    let before: String = house.admin.query_one(due, &[]).await.expect("times").get(0);
    assert_eq!(house.remind().await, 2);
    let mut wanted = vec![pending.to_string(), lapsed.to_string()];
    wanted.sort();
    assert_eq!(house.commanded().await, (wanted, 2));
    assert_eq!(house.admin.query_one(due, &[]).await.expect("times").get::<_, String>(0), before);
    assert_eq!(house.remind().await, 0, "once an interval");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_longer_a_job_waits_the_rarer_its_reminders_are() {
    let house = House::new().await;
    for (waited, next) in [(16, 16), (120, 120), (86_400, 300)] {
        let export = house.job("pending", waited, waited).await;
        house.remind().await;
        let seconds = house.next_reminder_seconds(&export).await;
        assert!((next - 2..=next + 2).contains(&seconds), "after {waited} s the next is in {seconds} s");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_reconcilers_side_by_side_write_each_command_once() {
    let house = Arc::new(House::new().await);
    for _ in 0..20 {
        house.job("pending", 20, 20).await;
    }
    let barrier = Arc::new(Barrier::new(2));
    let rounds = [(); 2].map(|()| {
        let (house, barrier) = (Arc::clone(&house), Arc::clone(&barrier));
        tokio::spawn(async move {
            barrier.wait().await;
            house.remind().await
        })
    });
    let mut written = 0;
    for round in rounds {
        written += round.await.expect("no panic");
    }
    // One may have passed over rows that the other held, and held none when it was done: what is left comes next.
    written += house.remind().await;
    let (mut exports, outbox) = house.commanded().await;
    exports.dedup();
    assert_eq!((written, exports.len(), outbox), (20, 20, 20));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_a_claim_holds_is_passed_over() {
    let house = House::new().await;
    let export = house.job("pending", 20, 20).await;
    let mut claimant = house.database.role("worker").await;
    let tx = claimant.transaction().await.expect("a transaction");
    let due = waybill_store::claim::due_job(&tx, &house.tenant).await.expect("an answer").expect("it is due");
    assert_eq!(due.job.export_id, export);
    assert_eq!(house.remind().await, 0);
    tx.rollback().await.expect("rolled back");
    assert_eq!(house.remind().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn looking_for_overdue_jobs_reads_their_index() {
    let house = House::new().await;
    house
        .admin
        .batch_execute(
            "INSERT INTO export.jobs (
                 export_id, tenant_id, service_account_id, dataset, dataset_revision, format, columns, state, version, due_at, remind_at,
                 failure_code, finished_at
             )
             SELECT 'exp_' || md5(n::text), tenant_id, service_account_id, 'orders', 1, 'csv', '{id}', kind.state, 2,
                 CASE kind.state WHEN 'pending' THEN now() END, CASE kind.state WHEN 'pending' THEN now() END,
                 CASE kind.state WHEN 'failed' THEN 'x' END, CASE kind.state WHEN 'failed' THEN now() END
             FROM export.service_accounts, generate_series(1, 20000) AS n,
                 LATERAL (SELECT CASE n % 100 WHEN 1 THEN 'pending' ELSE 'failed' END AS state) AS kind;
             ANALYZE export.jobs",
        )
        .await
        .expect("seeded");
    let Reminders { jobs_max, remind_after_ms, remind_after_max_ms } = REMINDERS;
    let parameters: [(&(dyn ToSql + Sync), Type); 3] =
        [(&jobs_max, Type::INT8), (&remind_after_ms, Type::INT8), (&remind_after_max_ms, Type::INT8)];
    let statement = include_str!("../../../crates/store/src/overdue/take.sql");
    Plan::of(&house.admin, statement, &parameters).await.must_use(&["jobs_to_remind", "jobs_pkey"], &[]);
}
