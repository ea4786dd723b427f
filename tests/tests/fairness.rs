//! A tenant's backlog is its own affair.

use tokio_postgres::Client;
use waybill_testkit::{Caller, System, eventually, id_of};

/// How many exports of the loud tenant wait.
const BACKLOG: i64 = 10_000;

/// Lets so many exports of a tenant wait, as if each had been accepted.
async fn backlog(admin: &Client, tenant: &Caller) {
    let like = "INSERT INTO export.jobs (
            export_id, tenant_id, service_account_id, dataset, dataset_revision, format, columns, order_name, state, version,
            due_at, remind_at
        )
        SELECT
            'exp_' || md5(n::text), tenant_id, service_account_id, 'orders', 1, 'csv', '{order_id}', 'by_id', 'pending', 1,
            now() - interval '1 hour', now()
        FROM export.service_accounts, generate_series(1, $2::bigint) AS n
        WHERE tenant_id = $1";
    let waiting = admin.execute(like, &[&tenant.tenant_id(), &BACKLOG]).await.expect("a backlog");
    assert_eq!(waiting, 10_000);
    admin.batch_execute("ANALYZE export.jobs").await.expect("analysed");
}

#[tokio::test]
async fn ten_thousand_waiting_exports_of_one_tenant_delay_anothers_by_no_more_than_those_that_run() {
    let system = System::fresh().await.with("worker.slots", 2);
    let api = system.start(&["api"]);
    let operator = system.operator(&api).await;
    let (loud, quiet) = (system.tenant(&operator, "loud").await, system.tenant(&operator, "quiet").await);
    let admin = system.database.admin().await;
    backlog(&admin, &loud).await;
    // Without a relay no command wakes the worker: it has to find the quiet one by itself.
    let _worker = system.start(&["worker"]);
    let loud_is_served = "SELECT count(*) FROM export.attempts WHERE state = 'succeeded'";
    eventually("the loud one to be served", || async {
        let served: i64 = admin.query_one(loud_is_served, &[]).await.expect("counts").get(0);
        (served >= 4).then_some(())
    })
    .await;

    let asked = quiet.ask("intent-1", &serde_json::json!({ "dataset": "orders" })).await;
    let export_id = id_of(&asked.success());
    let accepted = "SELECT clock_timestamp()";
    let accepted: std::time::SystemTime = admin.query_one(accepted, &[]).await.expect("a time").get(0);
    quiet.settled(&export_id).await;

    let begun_before = "SELECT count(*) FROM export.attempts AS loud
        JOIN export.attempts AS quiet ON quiet.export_id = $1
        WHERE loud.export_id <> $1 AND loud.claimed_at > $2 AND loud.claimed_at < quiet.claimed_at";
    let begun_before: i64 =
        admin.query_one(begun_before, &[&export_id, &accepted]).await.expect("counts").get(0);
    assert_eq!(begun_before, 0, "nothing of the loud one's is begun while the quiet one waits");
    let still = "SELECT count(*) FROM export.jobs WHERE state = 'pending'";
    let still: i64 = admin.query_one(still, &[]).await.expect("counts").get(0);
    assert!(still > BACKLOG / 2, "the backlog stood behind it: {still}");
}
