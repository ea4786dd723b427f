//! What is asked of a Postgres server directly: whether it answers, and a database of one's own.

use anyhow::{Context, Result};
use tokio_postgres::{Client, NoTls};

/// A runtime for the few questions that are asked over the network.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(future))
}

/// A client whose connection is driven by a task of its own.
pub(crate) async fn connect(url: &str) -> Result<Client> {
    let (client, connection) =
        tokio_postgres::connect(url, NoTls).await.context("cannot connect to Postgres")?;
    // Its end is seen by whoever uses the client.
    tokio::spawn(connection);
    Ok(client)
}

/// Makes the database unless it is there. Gives whether it had to.
pub(crate) async fn make_database(admin_url: &str, name: &str) -> Result<bool> {
    let admin = connect(admin_url).await?;
    if admin.query_opt("SELECT 1 FROM pg_database WHERE datname = $1", &[&name]).await?.is_some() {
        return Ok(false);
    }
    // From template0, so that the encoding does not hang on how somebody made the server.
    admin.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")).await?;
    Ok(true)
}

/// Drops the databases whose name begins with `prefix`, and whoever is connected to them.
pub(crate) async fn drop_databases(admin_url: &str, prefix: &str) -> Result<usize> {
    let admin = connect(admin_url).await?;
    let found =
        admin.query("SELECT datname FROM pg_database WHERE starts_with(datname, $1)", &[&prefix]).await?;
    for row in &found {
        let name: String = row.get(0);
        admin.batch_execute(&format!("DROP DATABASE IF EXISTS \"{name}\" WITH (FORCE)")).await?;
    }
    Ok(found.len())
}
