//! Clients of the bench's own.

use anyhow::{Context, Result};
use tokio_postgres::{Client, NoTls};

/// A client whose connection is driven by a task of its own.
pub(crate) async fn connect(url: &str) -> Result<Client> {
    let (client, connection) =
        tokio_postgres::connect(url, NoTls).await.context("cannot connect to Postgres")?;
    // Its end is seen by whoever uses the client.
    tokio::spawn(connection);
    Ok(client)
}
