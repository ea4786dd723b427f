//! How Postgres runs what stands on every request's way, on tables that hold many other rows.

use tokio_postgres::Client;
use tokio_postgres::types::{ToSql, Type};
use waybill_domain::ids::TenantId;
use waybill_domain::search_text;
use waybill_store::document;
use waybill_testkit::{Plan, TestDatabase};

const TENANT: &str = "ten_00000000000000000000000000000003";

const HITS_MAX: i64 = 20;

/// Documents of ten tenants; one in ten thousand is called 訂單, and every one is of the data set `orders`.
const DOCUMENTS: &str = "
    INSERT INTO search.documents (
        generation, export_id, tenant_id, version, state, dataset, format, name, labels, accepted_at, tokens, event_id
    )
    SELECT
        1, 'exp_' || md5(n::text), 'ten_' || lpad((n % 10)::text, 32, '0'), 2, 'succeeded', 'orders', 'csv', '', '{}',
        now() - n * interval '1 minute',
        CASE WHEN n % 10000 = 3 THEN $1::text ELSE format('''word%s'':1 ''orders'':2', n % 5000) END::tsvector,
        'evt_' || n
    FROM generate_series(1, 100000) AS n";

const COUNTERS: &str = "
    INSERT INTO stats.counters (generation, tenant_id, dataset)
    SELECT 1, 'ten_' || lpad((n % 2000)::text, 32, '0'), 'dataset-' || n / 2000 FROM generate_series(0, 19999) AS n;
    ANALYZE stats.counters; ANALYZE stats.pointer";

/// 20,000 keys, intents, jobs, attempts and results of 2,000 tenants.
const EXPORTS: &str = "
    CREATE TEMPORARY TABLE numbered AS
    SELECT
        n, md5(n::text) AS id, 'ten_' || lpad((n % 2000)::text, 32, '0') AS tenant_id,
        'sva_' || lpad((n % 2000)::text, 32, '0') AS service_account_id
    FROM generate_series(0, 19999) AS n;
    INSERT INTO export.tenants (tenant_id, name) SELECT DISTINCT tenant_id, tenant_id FROM numbered;
    INSERT INTO export.service_accounts (service_account_id, tenant_id, name)
    SELECT DISTINCT service_account_id, tenant_id, 'a' FROM numbered;
    INSERT INTO export.api_keys (api_key_id, service_account_id, secret_sha256, scopes, created_by)
    SELECT 'key_' || id, service_account_id, sha256(id::bytea), '{exports:read}', 'a test' FROM numbered;
    INSERT INTO export.dataset_revisions (dataset, revision, declaration, columns, applied_by)
    VALUES ('orders', 1, '{}', '[]', 'a test');
    INSERT INTO export.jobs (
        export_id, tenant_id, service_account_id, dataset, dataset_revision, format, columns, state, version, failure_code,
        finished_at
    )
    SELECT 'exp_' || id, tenant_id, service_account_id, 'orders', 1, 'csv', '{id}', 'failed', 2, 'x', now() FROM numbered;
    INSERT INTO export.intents (service_account_id, operation, idempotency_key, request_sha256, export_id)
    SELECT service_account_id, 'export.create', id, sha256(id::bytea), 'exp_' || id FROM numbered;
    INSERT INTO export.attempts (export_id, fence, number, worker, state, ended_at)
    SELECT 'exp_' || id, 1, 1, 'a', 'failed', now() FROM numbered;
    INSERT INTO export.candidates (candidate_id, export_id, fence, object_key, state)
    SELECT 'can_' || id, 'exp_' || id, 1, id, 'writing' FROM numbered;
    ANALYZE export.tenants, export.service_accounts, export.api_keys, export.jobs, export.intents, export.attempts,
        export.candidates";

/// A request's own statement: its parameters' types are named.
async fn plan(db: &Client, statement: &str, texts: &[&str]) -> Plan {
    let parameters: Vec<(&(dyn ToSql + Sync), Type)> =
        texts.iter().map(|text| (text as &(dyn ToSql + Sync), Type::TEXT)).collect();
    Plan::of(db, statement, &parameters).await
}

#[tokio::test]
async fn two_chinese_characters_are_found_by_their_tokens_and_a_word_of_every_document_from_the_newest_on() {
    let database = TestDatabase::fresh().await;
    let admin = database.admin().await;
    admin.execute(DOCUMENTS, &[&search_text::document_tokens(&["訂單", "orders"])]).await.expect("seeded");
    admin.batch_execute("ANALYZE search.documents; ANALYZE search.pointer").await.expect("analysed");
    let api = database.role("api").await;

    let rare = search_plan(&api, "訂單").await;
    rare.must_use(&["documents_g1_tokens_idx"], &["pointer"]);
    assert!(rare.nodes.contains("Bitmap Index Scan"), "{rare}");
    search_plan(&api, "orders").await.must_use(&["documents_g1_tenant_id_accepted_at_idx"], &["pointer"]);

    let (tenant, query) =
        (TenantId::parse(TENANT).expect("an id"), search_text::query("訂單").expect("a query"));
    for _ in 0..10 {
        let found = document::search(&api, &tenant, &query, HITS_MAX).await.expect("an answer");
        assert_eq!((found.generation, found.hits.len()), (1, 10));
    }
    // A statement that stays prepared soon gets a plan that knows nothing of the words.
    let prepared = api.query_typed("SELECT statement FROM pg_prepared_statements", &[]).await;
    assert_eq!(prepared.expect("an answer").len(), 0);
}

async fn search_plan(db: &Client, text: &str) -> Plan {
    let query = search_text::query(text).expect("a query");
    let parameters: [(&(dyn ToSql + Sync), Type); 3] =
        [(&TENANT, Type::TEXT), (&query, Type::TEXT), (&HITS_MAX, Type::INT8)];
    Plan::of(db, include_str!("../src/document/search.sql"), &parameters).await
}

#[tokio::test]
async fn a_tenants_counters_are_read_by_their_primary_key() {
    let database = TestDatabase::fresh().await;
    database.admin().await.batch_execute(COUNTERS).await.expect("seeded");
    let api = database.role("api").await;
    let plan = plan(&api, include_str!("../src/counter/of_tenant.sql"), &[TENANT]).await;
    plan.must_use(&["counters_g1_pkey"], &["pointer"]);
}

#[tokio::test]
async fn what_every_request_reads_is_found_by_primary_keys() {
    let database = TestDatabase::fresh().await;
    let admin = database.admin().await;
    admin.batch_execute(EXPORTS).await.expect("seeded");
    let id: String = admin.query_one("SELECT md5('2003')", &[]).await.expect("an id").get(0);
    let api = database.role("api").await;

    let key = format!("key_{id}");
    let credential = plan(&api, include_str!("../src/api_key/find_credential.sql"), &[&key]).await;
    credential.must_use(&["api_keys_pkey", "service_accounts_pkey", "tenants_pkey"], &[]);

    let account = TENANT.replace("ten_", "sva_");
    let intent = plan(&api, include_str!("../src/intent/find.sql"), &[&account, "export.create", &id]).await;
    intent.must_use(&["intents_pkey"], &[]);

    let export = format!("exp_{id}");
    let job = plan(&api, include_str!("../src/job/find.sql"), &[&export, TENANT]).await;
    job.must_use(&["jobs_pkey", "candidates_pkey", "attempts_pkey"], &[]);
}
