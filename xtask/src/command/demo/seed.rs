//! Puts the data set where the worker reads it, whole or not at all.

use anyhow::{Context, Result};
use bytes::Bytes;
use futures_util::SinkExt;
use tokio_postgres::Client;

use super::orders::{COLUMNS, ORDER_COUNT, Orders, SEED};
use crate::console::Step;
use crate::remote::connect;

/// How many bytes go to Postgres at once.
const CHUNK_BYTES: usize = 256 * 1024;

const TABLE: &str = "\
DROP TABLE IF EXISTS demo.orders;
CREATE TABLE demo.orders (
    order_id bigint NOT NULL,
    tenant_id text NOT NULL,
    customer text NOT NULL,
    city text NOT NULL,
    note text,
    quantity integer NOT NULL,
    amount numeric,
    ordered_at timestamptz NOT NULL,
    shipped_at timestamptz
);";

/// The table is read by tenant, in the order of its key.
const FINISH: &str = "\
ALTER TABLE demo.orders ADD PRIMARY KEY (tenant_id, order_id);
GRANT USAGE ON SCHEMA demo TO waybill_worker;
GRANT SELECT ON demo.orders TO waybill_worker;";

/// Seeds `demo.orders`, unless all of it is there for these tenants. Gives whether it had to.
pub(super) async fn seed(admin_url: &str, tenants: &[String], step: &Step) -> Result<bool> {
    let mut admin = connect(admin_url).await?;
    let mark = format!("orders {SEED} of {}", tenants.join(", "));
    if is_complete(&admin, &mark).await? {
        return Ok(false);
    }
    let transaction = admin.transaction().await?;
    transaction.batch_execute("CREATE SCHEMA IF NOT EXISTS demo").await?;
    transaction.batch_execute(TABLE).await?;
    let sink = transaction.copy_in(&format!("COPY demo.orders ({COLUMNS}) FROM STDIN")).await?;
    let mut sink = std::pin::pin!(sink);
    let mut chunk = String::with_capacity(CHUNK_BYTES * 2);
    for (count, line) in Orders::new(tenants).enumerate() {
        chunk.push_str(&line);
        if chunk.len() >= CHUNK_BYTES {
            sink.send(Bytes::from(std::mem::take(&mut chunk))).await.context("Postgres refused a row")?;
            step.progress(&format!("{count} of {ORDER_COUNT} rows"));
        }
    }
    sink.send(Bytes::from(chunk)).await.context("Postgres refused a row")?;
    sink.finish().await.context("Postgres refused a row")?;
    transaction.batch_execute(FINISH).await?;
    transaction.batch_execute(&format!("COMMENT ON TABLE demo.orders IS '{mark}'")).await?;
    transaction.commit().await?;
    admin.batch_execute("VACUUM (ANALYZE) demo.orders").await?;
    Ok(true)
}

/// The mark is written in the transaction that writes the rows.
async fn is_complete(admin: &Client, mark: &str) -> Result<bool> {
    let row = admin.query_one("SELECT obj_description(to_regclass('demo.orders'), 'pg_class')", &[]).await?;
    let found: Option<String> = row.get(0);
    Ok(found.as_deref() == Some(mark))
}

/// How many rows the tenant has.
pub(super) async fn rows_of(admin_url: &str, tenant: &str) -> Result<i64> {
    let admin = connect(admin_url).await?;
    let row = admin.query_one("SELECT count(*) FROM demo.orders WHERE tenant_id = $1", &[&tenant]).await?;
    Ok(row.get(0))
}
