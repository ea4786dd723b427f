//! How Postgres runs what a tenant's own size could make slow: its list, its quotas, and the claim before a backlog.

use tokio_postgres::Client;
use tokio_postgres::types::{ToSql, Type};
use waybill_testkit::{Plan, TestDatabase, eventually};

const TENANT: &str = "ten_00000000000000000000000000000003";

/// 40,000 exports of 200 tenants, of which one has 10,000 that wait and 10,000 that succeeded.
const EXPORTS: &str = "
    CREATE TEMPORARY TABLE numbered AS
    SELECT
        n, md5(n::text) AS id, n % 2 = 0 AS done,
        lpad((CASE WHEN n < 20000 THEN 3 ELSE n % 200 END)::text, 32, '0') AS tenant
    FROM generate_series(0, 39999) AS n;
    INSERT INTO export.tenants (tenant_id, name) SELECT DISTINCT 'ten_' || tenant, tenant FROM numbered;
    INSERT INTO export.service_accounts (service_account_id, tenant_id, name)
    SELECT DISTINCT 'sva_' || tenant, 'ten_' || tenant, 'a' FROM numbered;
    INSERT INTO export.dataset_revisions (dataset, revision, declaration, columns, applied_by)
    VALUES ('orders', 1, '{}', '[]', 'a test');
    INSERT INTO export.jobs (
        export_id, tenant_id, service_account_id, dataset, dataset_revision, format, columns, state, version, fence, due_at, remind_at,
        accepted_at, finished_at, failure_code
    )
    SELECT
        'exp_' || id, 'ten_' || tenant, 'sva_' || tenant, 'orders', 1, 'csv', '{id}',
        CASE WHEN done THEN 'failed' ELSE 'pending' END, 2, 1,
        CASE WHEN NOT done THEN now() END, CASE WHEN NOT done THEN now() END,
        now() - n * interval '1 minute', CASE WHEN done THEN now() - n * interval '1 minute' END,
        CASE WHEN done THEN 'x' END
    FROM numbered;
    INSERT INTO export.attempts (export_id, fence, number, worker, state, ended_at)
    SELECT 'exp_' || id, 1, 1, 'a', 'succeeded', now() FROM numbered WHERE done;
    INSERT INTO export.candidates (candidate_id, export_id, fence, object_key, state, rows, bytes, sha256, verified_at)
    SELECT 'can_' || id, 'exp_' || id, 1, id, 'selected', 10, 100, sha256(id::bytea), now() FROM numbered WHERE done;
    UPDATE export.jobs
    SET
        state = 'succeeded', result_candidate_id = candidate_id, usage_rows = rows, usage_bytes = bytes,
        expires_at = now() + interval '1 day'
    FROM export.candidates
    WHERE candidates.export_id = jobs.export_id";

/// The tables that plans are made for.
const SETTLED: [&str; 4] = ["export.jobs", "export.attempts", "export.candidates", "export.tenants"];

async fn seeded() -> TestDatabase {
    let database = TestDatabase::fresh().await;
    let admin = database.admin().await;
    admin.batch_execute(EXPORTS).await.expect("seeded");
    for table in SETTLED {
        settle(&admin, table).await;
    }
    database
}

/// Lets the planner know the table, and nobody's old snapshot (an autovacuum's, for one) keep its rows from being visible to all:
/// an index alone would not do then, and another one looks as good.
async fn settle(admin: &Client, table: &str) {
    let is_visible =
        format!("SELECT relallvisible >= relpages FROM pg_class WHERE oid = '{table}'::regclass");
    eventually(&format!("{table} is visible to all"), async || {
        admin.batch_execute(&format!("VACUUM ANALYZE {table}")).await.expect("vacuumed");
        admin.query_one(&is_visible, &[]).await.expect("its size").get::<_, bool>(0).then_some(())
    })
    .await;
}

/// The plan of a page: what the list is asked for besides, and after which place.
async fn page(db: &Client, retry_of: Option<&str>, is_later: bool) -> Plan {
    let time = is_later.then(std::time::SystemTime::now);
    let none: Option<&str> = None;
    let never: Option<std::time::SystemTime> = None;
    let place = is_later.then_some("exp_00000000000000000000000000000000");
    let parameters: [(&(dyn ToSql + Sync), Type); 12] = [
        (&TENANT, Type::TEXT),
        (&time, Type::TIMESTAMPTZ),
        (&place, Type::TEXT),
        (&never, Type::TIMESTAMPTZ),
        (&never, Type::TIMESTAMPTZ),
        (&none, Type::TEXT),
        (&none, Type::TEXT),
        (&none, Type::TEXT),
        (&none, Type::TEXT),
        (&none, Type::TEXT),
        (&retry_of, Type::TEXT),
        (&100_i64, Type::INT8),
    ];
    Plan::of(db, include_str!("../src/listing/of_tenant.sql"), &parameters).await
}

#[tokio::test]
async fn a_page_is_read_from_where_the_last_one_ended_and_sorts_nothing() {
    let database = seeded().await;
    let api = database.role("api").await;
    for is_later in [false, true] {
        let plan = page(&api, None, is_later).await;
        plan.must_use(&["jobs_of_tenant", "candidates_pkey", "attempts_pkey"], &[]);
        assert!(plan.nodes.contains("Limit"), "{plan}");
        let sorts = plan.nodes.iter().any(|node| node.contains("Sort"));
        assert!(!sorts, "the newest first, by the index alone: {plan}");
    }
    let retries = page(&api, Some("exp_00000000000000000000000000000000"), false).await;
    retries.must_use(&["jobs_retry_of"], &[]);
}

#[tokio::test]
async fn what_a_tenant_uses_is_counted_by_indexes_alone() {
    let database = seeded().await;
    let api = database.role("api").await;
    let all: [(&(dyn ToSql + Sync), Type); 2] = [(&TENANT, Type::TEXT), (&true, Type::BOOL)];
    let plan = Plan::of(&api, include_str!("../src/quota/used.sql"), &all).await;
    plan.must_use(&["jobs_pending_of_tenant", "jobs_rows_of_tenant", "jobs_kept_of_tenant"], &["tenants"]);
    assert!(plan.nodes.contains("Index Only Scan"), "{plan}");
    let free: [(&(dyn ToSql + Sync), Type); 2] = [(&TENANT, Type::TEXT), (&100_i64, Type::INT8)];
    let plan = Plan::of(&api, include_str!("../src/quota/bytes_free_at.sql"), &free).await;
    plan.must_use(&["jobs_kept_of_tenant"], &[]);
    let pace: [(&(dyn ToSql + Sync), Type); 2] = [(&TENANT, Type::TEXT), (&600_i64, Type::INT8)];
    let plan = Plan::of(&api, include_str!("../src/quota/ended_lately.sql"), &pace).await;
    plan.must_use(&["jobs_rows_of_tenant"], &[]);
}

#[tokio::test]
async fn the_claim_looks_at_no_more_of_a_backlog_than_its_first_job() {
    let database = seeded().await;
    let worker = database.role("worker").await;
    let tried: Vec<&str> = Vec::new();
    let none_tried: [(&(dyn ToSql + Sync), Type); 1] = [(&tried, Type::TEXT_ARRAY)];
    let turn = Plan::of(&worker, include_str!("../src/claim/next_tenant.sql"), &none_tried).await;
    turn.must_use(&["jobs_running_of_tenant", "jobs_pending_of_tenant"], &["tenants"]);
    let tenant: [(&(dyn ToSql + Sync), Type); 1] = [(&TENANT, Type::TEXT)];
    let due = Plan::of(&worker, include_str!("../src/claim/due_job.sql"), &tenant).await;
    due.must_use(&["jobs_running_of_tenant", "jobs_pending_of_tenant"], &[]);
    assert!(due.nodes.contains("Limit") && due.nodes.contains("LockRows"), "{due}");
}

#[tokio::test]
async fn all_that_is_watched_is_read_by_primary_keys() {
    let database = seeded().await;
    let api = database.role("api").await;
    let ids: Vec<String> = (0..50).map(|n| format!("exp_{n:032}")).collect();
    let ids: [(&(dyn ToSql + Sync), Type); 1] = [(&ids, Type::TEXT_ARRAY)];
    let plan = Plan::of(&api, include_str!("../src/watched/marks.sql"), &ids).await;
    plan.must_use(&["jobs_pkey", "attempts_pkey"], &[]);
}
