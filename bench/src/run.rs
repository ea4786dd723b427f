//! One run of a bench.

use std::path::Path;

use anyhow::{Context, Result};
use tokio_postgres::Client;
use waybill_devstack::Undertaking;

use crate::installation::Installation;
use crate::postgres::connect;
use crate::progress::Progress;
use crate::stack::Stack;

/// Where a bench runs, and what it measures.
#[derive(Debug)]
pub(crate) struct Run<'run> {
    pub(crate) stack: &'run Stack,
    pub(crate) undertaking: &'run Undertaking,
    pub(crate) progress: &'run Progress,
    /// The `waybill` to measure.
    pub(crate) waybill: &'run Path,
    /// The same work, smaller.
    pub(crate) quick: bool,
}

impl Run<'_> {
    /// A database of this name, as a superuser.
    pub(crate) async fn database(&self, name: &str) -> Result<Client> {
        let admin = connect(&self.stack.database_url("postgres")).await?;
        admin.batch_execute(&format!("CREATE DATABASE {name}")).await.context("no database")?;
        connect(&self.stack.database_url(name)).await
    }

    /// Waybill, installed in its database.
    pub(crate) fn installation(&self) -> Result<Installation<'_>> {
        Installation::new(self.stack, self.undertaking, self.waybill)
    }
}
