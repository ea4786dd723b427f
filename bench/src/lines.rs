//! The rows: ten columns of mixed types, about 145 B each as CSV.

use anyhow::{Context, Result};
use tokio_postgres::Client;

use crate::progress::Progress;

/// How many rows one statement writes, so that there is progress to see.
const ROWS_PER_STATEMENT: u64 = 500_000;

/// A table, and who may read it.
const TABLE: &str = "
    CREATE SCHEMA IF NOT EXISTS shop;
    CREATE TABLE shop.{table} (
        tenant_id text NOT NULL,
        line_id bigint NOT NULL,
        customer_id integer NOT NULL,
        customer text NOT NULL,
        amount numeric(12, 2) NOT NULL,
        ratio double precision NOT NULL,
        paid boolean NOT NULL,
        created_at timestamptz NOT NULL,
        due_on date NOT NULL,
        reference uuid NOT NULL,
        note text
    );
    GRANT USAGE ON SCHEMA shop TO waybill_worker, waybill_api;
    GRANT SELECT ON shop.{table} TO waybill_worker, waybill_api;";

/// The columns of a file, with DuckDB's type of each.
pub(crate) const COLUMNS: [(&str, &str); 10] = [
    ("line_id", "BIGINT"),
    ("customer_id", "INTEGER"),
    ("customer", "VARCHAR"),
    ("amount", "DECIMAL(12,2)"),
    ("ratio", "DOUBLE"),
    ("paid", "BOOLEAN"),
    ("created_at", "TIMESTAMPTZ"),
    ("due_on", "DATE"),
    ("reference", "UUID"),
    ("note", "VARCHAR"),
];

/// A table, which is a data set of the same name.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) rows: u64,
}

impl Table {
    /// Makes it, fills it for the tenant, and leaves nothing to be done at a first read.
    pub(crate) async fn fill(&self, db: &Client, tenant_id: &str, progress: &Progress) -> Result<()> {
        self.make(db).await?;
        let meter = progress.begin(&format!("  fill {}", self.name), self.rows);
        for first in (1..=self.rows).step_by(usize::try_from(ROWS_PER_STATEMENT)?) {
            let last = self.rows.min(first + ROWS_PER_STATEMENT - 1);
            self.insert_between(db, tenant_id, (first, last)).await?;
            meter.set(last);
        }
        self.settle(db).await?;
        meter.end(&format!("{} rows", self.rows));
        Ok(())
    }

    /// Makes it, without rows.
    pub(crate) async fn make(&self, db: &Client) -> Result<()> {
        let statements = TABLE.replace("{table}", self.name);
        db.batch_execute(&statements).await.context("no table")
    }

    /// Gives the tenant its rows.
    pub(crate) async fn insert(&self, db: &Client, tenant_id: &str) -> Result<()> {
        self.insert_between(db, tenant_id, (1, self.rows)).await
    }

    async fn insert_between(&self, db: &Client, tenant_id: &str, (first, last): (u64, u64)) -> Result<()> {
        let insert = include_str!("lines/sql/rows.sql").replace("{table}", self.name);
        let (first, last) = (i64::try_from(first)?, i64::try_from(last)?);
        db.execute(&insert, &[&tenant_id, &first, &last]).await.context("no rows")?;
        Ok(())
    }

    /// Leaves nothing to be done at a first read.
    pub(crate) async fn settle(&self, db: &Client) -> Result<()> {
        let vacuum = format!("VACUUM (FREEZE, ANALYZE) shop.{}", self.name);
        db.batch_execute(&vacuum).await.context("no vacuum")?;
        db.batch_execute("CHECKPOINT").await.context("no checkpoint")
    }

    /// What everybody reads.
    pub(crate) fn query(&self, tenant_id: &str) -> String {
        let columns: Vec<&str> = COLUMNS.iter().map(|(column, _)| *column).collect();
        format!("SELECT {} FROM shop.{} WHERE tenant_id = '{tenant_id}'", columns.join(", "), self.name)
    }

    /// The same as a data set's file.
    pub(crate) fn declaration(&self) -> String {
        let columns: Vec<String> = COLUMNS.iter().map(|(column, _)| format!("\"{column}\"")).collect();
        let (name, columns) = (self.name, columns.join(", "));
        format!(
            "name = \"{name}\"\ndescription = \"Lines of a bench.\"\nsource = \"shop\"\ntable = \"shop.{name}\"\n\
             tenant_column = \"tenant_id\"\ncolumns = [{columns}]\n"
        )
    }
}
