//! What is in an attempt's file, and what never becomes one.

use serde_json::Value;
use waybill_domain::ids::{ExportId, TenantId};
use waybill_testkit::{Proxy, eventually, within};
use waybill_worker::Outcome;

use crate::attempt::run_next;
use crate::house::{House, ORDERS};

/// The file that the export selected.
async fn file(house: &House, export: &ExportId) -> Vec<u8> {
    let key = "SELECT object_key FROM export.candidates WHERE export_id = $1 AND state = 'selected'";
    let key: String = house.admin.query_one(key, &[&export.as_str()]).await.expect("a result").get(0);
    std::fs::read(house.object(&key)).expect("the object is there")
}

/// Sets what an export asks for.
async fn asks(house: &House, export: &ExportId, assignments: &str) {
    let statement = format!("UPDATE export.jobs SET {assignments} WHERE export_id = '{export}'");
    house.admin.batch_execute(&statement).await.expect("a wish");
}

async fn lines(house: &House, export: &ExportId) -> Vec<Value> {
    let file = String::from_utf8(file(house, export).await).expect("UTF-8");
    file.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_has_the_rows_columns_and_order_that_were_asked_for_and_nobody_elses() {
    let house = House::new().await;
    let (tenant, other) = (house.tenant(2).await, house.tenant(2).await);
    house.orders(&tenant, 60).await;
    house.orders(&other, 60).await;
    let file = ORDERS
        .replace("[orders]", "[filters]\norder_id = [\"range\"]\ntenant_id = [\"eq\", \"in\"]\n[orders]");
    house.apply(2, &format!("{file}\nlast_first = [\"order_id desc\"]\n")).await;
    let export = house.job(&tenant, 2).await;
    let wish = "dataset_revision = 2, format = 'ndjson', columns = '{note,order_id}', order_name = 'last_first', \
         filters = '{\"order_id\": {\"range\": {\"gte\": \"10\", \"lt\": \"13\"}}}'";
    asks(&house, &export, wish).await;
    let worker = house.worker("one");
    assert_eq!(run_next(&worker).await, Outcome::Succeeded);
    let rows = lines(&house, &export).await;
    let ids: Vec<_> = rows.iter().map(|row| row["order_id"].as_i64()).collect();
    assert_eq!(ids, [Some(12), Some(11), Some(10)]);
    let members: Vec<_> = rows[0].as_object().expect("an object").keys().cloned().collect();
    assert_eq!(members.len(), 2, "{members:?}");

    let export = house.job(&tenant, 2).await;
    let wish = format!(
        "dataset_revision = 2, format = 'ndjson', \
         filters = '{{\"tenant_id\": {{\"eq\": \"{other}\"}}, \"order_id\": {{\"range\": {{\"gt\": \"0\"}}}}}}'"
    );
    asks(&house, &export, &wish).await;
    assert_eq!(run_next(&worker).await, Outcome::Succeeded);
    assert_eq!(lines(&house, &export).await, Vec::<Value>::new(), "asking for another's rows gives none");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_of_a_data_set_is_bound_to_the_tenant_whatever_is_in_it() {
    let house = House::new().await;
    let (tenant, other) = (house.tenant(2).await, house.tenant(2).await);
    house.orders(&tenant, 3).await;
    house.orders(&other, 5).await;
    let query = "query = \"SELECT * FROM shop.orders WHERE true OR tenant_id <> '' -- all of them\"";
    house.apply(2, &ORDERS.replace("table = \"shop.orders\"", query)).await;
    let export = house.job(&tenant, 2).await;
    asks(&house, &export, "dataset_revision = 2, format = 'ndjson'").await;
    assert_eq!(run_next(&house.worker("one")).await, Outcome::Succeeded);
    assert_eq!(lines(&house, &export).await.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_is_made_by_the_revision_that_it_was_accepted_with() {
    let house = House::new().await;
    let tenant = house.tenant(2).await;
    house.orders(&tenant, 4).await;
    let before = house.job(&tenant, 2).await;
    let without_note = ORDERS.replace("\"note\", ", "").replace("shop.orders", "shop.few");
    let few = "CREATE VIEW shop.few AS SELECT * FROM shop.orders LIMIT 1; GRANT SELECT ON shop.few TO waybill_worker";
    house.admin.batch_execute(few).await.expect("a view");
    house.apply(2, &without_note).await;
    let after = house.job(&tenant, 1).await;
    asks(&house, &after, "dataset_revision = 2, columns = '{order_id}'").await;
    let worker = house.worker("one");
    for _ in 0..2 {
        assert_eq!(run_next(&worker).await, Outcome::Succeeded);
    }
    let file_before = String::from_utf8(file(&house, &before).await).expect("UTF-8");
    assert!(file_before.starts_with("order_id,note,amount,placed_at\n"), "{file_before}");
    assert_eq!(file(&house, &after).await, b"order_id\n1\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_the_format_cannot_hold_fails_the_export_with_its_row_and_column_and_not_its_value() {
    let house = House::new().await;
    let tenant = house.tenant(2).await;
    house
        .admin
        .batch_execute("ALTER TABLE shop.orders ALTER amount TYPE numeric(12, 2)")
        .await
        .expect("typed");
    house.apply(2, ORDERS).await;
    let insert = "INSERT INTO shop.orders (order_id, tenant_id, note, amount) VALUES (1, $1, 'a', 1.5), (2, $1, 'b', 'NaN')";
    house.admin.execute(insert, &[&tenant.as_str()]).await.expect("rows");
    let export = house.job(&tenant, 1).await;
    asks(&house, &export, "dataset_revision = 2, format = 'parquet', compression = 'zstd'").await;
    assert_eq!(run_next(&house.worker("one")).await, Outcome::Failed);
    let row = "SELECT error_code, error_detail FROM export.attempts";
    let row = house.admin.query_one(row, &[]).await.expect("the attempt");
    assert_eq!(row.get::<_, String>(0), "value-not-exportable");
    let detail: String = row.get(1);
    assert!(detail.contains("row 2, column amount") && !detail.contains("NaN,"), "{detail}");
}

/// Rows enough that many are on their way before the last one, which waits for a lock that the test holds.
async fn held_up(house: &House, tenant: &TenantId) {
    house.orders(tenant, 5_000).await;
    let held_up = "
        CREATE FUNCTION shop.held_up(order_id bigint) RETURNS boolean LANGUAGE plpgsql AS
        'BEGIN IF order_id = 5000 THEN PERFORM pg_advisory_xact_lock_shared(7); END IF; RETURN true; END';
        CREATE VIEW shop.held_up_orders AS SELECT * FROM shop.orders WHERE shop.held_up(order_id);
        GRANT SELECT ON shop.held_up_orders TO waybill_worker;
        SELECT pg_advisory_lock(7)";
    house.admin.batch_execute(held_up).await.expect("a view that stops before its last row");
}

/// Until the COPY stands before its last row.
async fn stands(house: &House) {
    let waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = 7";
    eventually("the COPY stops before its last row", async || {
        let row = house.admin.query_one(waiting, &[]).await.expect("an answer");
        (row.get::<_, i64>(0) == 1).then_some(())
    })
    .await;
}

/// No object lies where a candidate was to be.
async fn nothing_is_stored(house: &House) {
    for row in house.admin.query("SELECT object_key, state FROM export.candidates", &[]).await.expect("rows")
    {
        let (key, state): (String, String) = (row.get(0), row.get(1));
        assert_eq!(state, "writing");
        assert!(!house.object(&key).exists(), "{key} is visible");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_breaks_in_the_middle_of_the_rows_leaves_no_file_and_the_export_is_tried_again() {
    for format in ["csv", "ndjson", "parquet"] {
        let house = House::new().await;
        let tenant = house.tenant(2).await;
        held_up(&house, &tenant).await;
        let file = ORDERS
            .replace("shop.orders", "shop.held_up_orders")
            .replace("\"amount\"", "{ name = \"amount\", as = \"text\" }");
        house.apply(2, &file).await;
        let export = house.job(&tenant, 1).await;
        asks(&house, &export, &format!("dataset_revision = 2, format = '{format}', order_name = NULL")).await;
        let proxy = Proxy::before(&house.database).await;
        let worker = house.worker_reading_through(proxy.url());

        let attempting = tokio::spawn({
            let worker = worker.clone();
            async move { run_next(&worker).await }
        });
        stands(&house).await;
        drop(proxy);
        let outcome = within("the attempt ends", attempting).await.expect("no panic");

        assert_eq!(outcome, Outcome::FailedTransiently, "{format}");
        let story = house.story(&export).await;
        assert!(
            story.starts_with("pending v1") && story.contains("1:failed:dataset-unavailable"),
            "{format}: {story}"
        );
        nothing_is_stored(&house).await;

        let opened = "SELECT pg_advisory_unlock(7); UPDATE export.jobs SET due_at = now()";
        house.admin.batch_execute(opened).await.expect("opened");
        assert_eq!(run_next(&house.worker("two")).await, Outcome::Succeeded, "{format}");
        let rows = "SELECT rows FROM export.candidates WHERE state = 'selected'";
        assert_eq!(house.admin.query_one(rows, &[]).await.expect("a result").get::<_, i64>(0), 5_000);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_falls_silent_in_the_middle_is_left_when_its_snapshot_is_too_old() {
    let house = House::new().await;
    let tenant = house.tenant(2).await;
    held_up(&house, &tenant).await;
    let file = ORDERS
        .replace("shop.orders", "shop.held_up_orders")
        .replace("columns", "max_snapshot_age = \"2s\"\ncolumns");
    house.apply(2, &file).await;
    let export = house.job(&tenant, 1).await;
    asks(&house, &export, "dataset_revision = 2, order_name = NULL").await;
    let proxy = Proxy::before(&house.database).await;
    let worker = house.worker_reading_through(proxy.url());
    let attempting = tokio::spawn(async move { run_next(&worker).await });
    stands(&house).await;
    proxy.cut_all();
    assert_eq!(within("the attempt ends", attempting).await.expect("no panic"), Outcome::FailedTransiently);
    let story = house.story(&export).await;
    assert!(story.contains("1:failed:snapshot-too-old"), "{story}");
    nothing_is_stored(&house).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_runs_too_long_is_ended_by_the_server_and_tried_again() {
    let house = House::new().await;
    let tenant = house.tenant(2).await;
    held_up(&house, &tenant).await;
    let file = ORDERS
        .replace("shop.orders", "shop.held_up_orders")
        .replace("columns", "statement_timeout = \"1s\"\ncolumns");
    house.apply(2, &file).await;
    let export = house.job(&tenant, 1).await;
    asks(&house, &export, "dataset_revision = 2, order_name = NULL").await;
    let worker = house.worker("one");
    assert_eq!(within("the attempt ends", run_next(&worker)).await, Outcome::FailedTransiently);
    let story = house.story(&export).await;
    assert!(story.contains("1:failed:dataset-statement-timeout"), "{story}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_says_of_which_moment_it_is() {
    let house = House::new().await;
    let tenant = house.tenant(2).await;
    house.orders(&tenant, 3).await;
    let before = "SELECT pg_current_wal_insert_lsn()::text, clock_timestamp()::text";
    let before = house.admin.query_one(before, &[]).await.expect("a place");
    house.job(&tenant, 1).await;
    assert_eq!(run_next(&house.worker("one")).await, Outcome::Succeeded);
    let between = "SELECT as_of_lsn BETWEEN $1::text::pg_lsn AND pg_current_wal_insert_lsn()
         AND as_of_at BETWEEN $2::text::timestamptz AND clock_timestamp() FROM export.candidates";
    let (lsn, at): (String, String) = (before.get(0), before.get(1));
    assert!(house.admin.query_one(between, &[&lsn, &at]).await.expect("the candidate").get::<_, bool>(0));
}
