//! Waybill's side: an export, from its request to its outcome.

use std::cell::Cell;
use std::fs;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::sample::{Account, Sample, Writer};
use super::shape::Shape;
use crate::client::{Caller, Tenant};
use crate::installation::{Installation, Started};
use crate::lines::Table;
use crate::processor::peak_resident_bytes;
use crate::stack::Stack;

/// An api and a relay that run, and a worker for each export.
pub(crate) struct Ours<'run> {
    stack: &'run Stack,
    installation: &'run Installation<'run>,
    house: Started,
    operator: Caller,
    tenant: Tenant,
    asked: Cell<u64>,
}

impl<'run> Ours<'run> {
    pub(crate) async fn begin(stack: &'run Stack, installation: &'run Installation<'run>) -> Result<Self> {
        let management = stack.port("house-management")?;
        let house = installation.start(stack.service("api"), &["api", "relay"], management)?;
        let operator = Caller::operator(installation, stack.known_port("api")?).await;
        house.check()?;
        let operator = operator?;
        let tenant = operator.tenant("bench").await?;
        Ok(Self { stack, installation, house, operator, tenant, asked: Cell::new(0) })
    }

    pub(crate) fn tenant_id(&self) -> &str {
        &self.tenant.tenant_id
    }

    /// Declares the table as a data set.
    pub(crate) async fn declare(&self, table: &Table) -> Result<()> {
        self.operator.post("/v1/ops/datasets", &json!({ "file": table.declaration() })).await.map(drop)
    }

    /// One export by a worker that has made no other, whose most memory is then this export's.
    pub(crate) async fn export(&self, table: &Table, shape: Shape) -> Result<Sample> {
        let management = self.stack.port("worker-management")?;
        let worker = self.installation.start(self.stack.service("worker"), &["worker"], management)?;
        let sample = self.measured(&worker, table, shape).await;
        let ran = worker.check();
        worker.stop()?;
        ran?;
        // No disk holds the files of every round.
        let objects = self.stack.objects();
        fs::remove_dir_all(&objects).with_context(|| format!("cannot empty {}", objects.display()))?;
        fs::create_dir_all(&objects).with_context(|| format!("cannot make {}", objects.display()))?;
        sample
    }

    async fn measured(&self, worker: &Started, table: &Table, shape: Shape) -> Result<Sample> {
        let account = Account::open(self.stack, Writer::Process(worker.pid))?;
        self.asked.set(self.asked.get() + 1);
        let (format, compression) = shape.asked();
        let wish = json!({ "dataset": table.name, "format": format, "compression": compression });
        let caller = &self.tenant.caller;
        let export_id = caller.ask(&format!("bench-{}", self.asked.get()), &wish).await?;
        let export = caller.settled(&export_id).await?;
        let result = &export["result"];
        ensure!(export["state"] == "succeeded", "the export came to {export}");
        ensure!(result["rows"].as_u64() == Some(table.rows), "the export has {}", result["rows"]);
        let sample = account.close(peak_resident_bytes(worker.pid), bytes(result));
        eprintln!("  waybill: {}", sample.describe());
        Ok(sample)
    }

    pub(crate) fn end(self) -> Result<()> {
        self.house.stop().map(drop)
    }
}

fn bytes(result: &Value) -> u64 {
    result["bytes"].as_u64().unwrap_or_default()
}
