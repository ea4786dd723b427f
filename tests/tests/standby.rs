//! Exports that are read from a standby, which has to go on with its replay.

use serde_json::{Value, json};
use tokio_postgres::Client;
use waybill_testkit::{PrivatePostgres, System, connect, eventually, id_of, within};

/// Reads the tenant's rows and waits then for a lock, with its snapshot open.
const SHOP: &str = "
    CREATE ROLE reader LOGIN PASSWORD 'of-a-test';
    CREATE SCHEMA shop;
    CREATE TABLE shop.all_orders (tenant_id text, order_id bigint);
    CREATE VIEW shop.orders AS
        SELECT tenant_id, order_id FROM shop.all_orders WHERE pg_advisory_xact_lock_shared(7) IS NOT NULL;
    GRANT USAGE ON SCHEMA shop TO reader;
    GRANT SELECT ON shop.orders TO reader;";

const ORDERS: &str = r#"
name = "replicated"
description = "Orders, read from a standby."
source = "replica"
table = "shop.orders"
tenant_column = "tenant_id"
columns = ["order_id"]
"#;

async fn number(client: &Client, question: &str) -> i64 {
    client.query_one(question, &[]).await.expect(question).get(0)
}

#[tokio::test]
async fn an_export_whose_snapshot_a_standby_cancels_is_tried_again_and_has_the_rows_of_its_later_snapshot() {
    let primary = PrivatePostgres::start(&[]);
    let shop = connect(&primary.url()).await;
    shop.batch_execute(SHOP).await.expect("a shop");
    let standby = primary.standby(&["max_standby_streaming_delay=0"]);
    let url = standby.url();
    let (_, address) = url.split_once('@').expect("a login and an address");
    let system =
        System::fresh().await.with("sources.replica.url", format!("postgres://reader:of-a-test@{address}"));
    let api = system.start(&["api"]);
    let operator = system.operator(&api).await;
    let caller = system.tenant(&operator, "a tenant").await;
    let rows = "INSERT INTO shop.all_orders SELECT $1, n FROM generate_series(1, 10) AS n";
    shop.execute(rows, &[&caller.tenant_id()]).await.expect("ten orders");
    let replica = connect(&standby.url()).await;
    eventually("the standby to have the rows", async || {
        (number(&replica, "SELECT count(*) FROM shop.all_orders").await == 10).then_some(())
    })
    .await;
    operator.apply_dataset(ORDERS).await;

    replica.batch_execute("SELECT pg_advisory_lock(7)").await.expect("nobody gets past the lock");
    let _worker = system.start(&["worker"]);
    let asked = caller.ask("intent-1", &json!({ "dataset": "replicated" })).await.success();
    let waits = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'reader' AND wait_event = 'advisory'";
    eventually("the export to hold its snapshot", async || {
        (number(&replica, waits).await == 1).then_some(())
    })
    .await;
    // What the snapshot still sees is cleaned away, and the log of that is sent with the next commit.
    shop.batch_execute("DELETE FROM shop.all_orders WHERE order_id > 7").await.expect("deleted");
    shop.batch_execute("VACUUM shop.all_orders").await.expect("cleaned");
    shop.batch_execute("CREATE TABLE shop.anything ()").await.expect("a commit that is sent at once");

    let export_id = id_of(&asked);
    let show = format!("/v1/ops/exports/{export_id}");
    let first = eventually("the first attempt to end", async || {
        let export: Value = operator.get(&show).await.success();
        let first = export["attempts"][0].clone();
        (first["outcome"] != "running").then_some(first)
    })
    .await;
    let ended = (&first["outcome"], &first["error_code"]);
    assert_eq!(ended, (&json!("failed"), &json!("snapshot-cancelled")), "{first}");
    replica.batch_execute("SELECT pg_advisory_unlock(7)").await.expect("unlocked");
    let export = within("the export", caller.settled(&export_id)).await;
    assert_eq!((&export["state"], &export["result"]["rows"]), (&json!("succeeded"), &json!(7)), "{export}");
    assert_eq!(export["failure"], Value::Null, "nobody outside was told of the try that failed");
}
